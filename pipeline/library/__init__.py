"""The knowledge base in its keeper's hands: files put in, taken out, brought back, and looked over."""
