"""``python -m focusedcleaner``: the command line, for where the script ``focusedcleaner`` is not on the path."""

from focusedcleaner.cli import main

if __name__ == "__main__":
    main()
