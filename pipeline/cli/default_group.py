"""A group of commands of which one is meant where none is named."""

from __future__ import annotations

import click

__all__ = ["DefaultGroup"]


class DefaultGroup(click.Group):
    """``otvet eval FILE`` is ``otvet eval run FILE``; a file named as a command is written ``./make``."""

    default = "run"
    """Name of the command that is meant."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default before arguments that name no command and ask for no help."""
        known = (*self.list_commands(ctx), *self.get_help_option_names(ctx))
        if not args or args[0] not in known:
            args = [self.default, *args]
        return super().parse_args(ctx, args)
