"""``python -m stepscope``: the program itself."""

from stepscope._program import main

if __name__ == "__main__":
    main()
