"""Servers on other machines that speak OpenAI's protocol: llama.cpp's, Ollama, vLLM and their like.

Nothing in here is used unless an address is set (``remote.…_url``): that setting is the user's consent.
"""
