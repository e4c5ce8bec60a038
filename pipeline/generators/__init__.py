"""Text generators and the worker that owns one."""
