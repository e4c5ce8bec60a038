"""``python -m pipeline.cli``: the command line where the script ``otvet`` is not on the path."""

from pipeline.cli.main import main

if __name__ == "__main__":
    main()
