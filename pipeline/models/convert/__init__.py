"""Turning a model as it is published into the files that the product serves."""
