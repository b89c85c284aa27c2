"""The paper's tables and figures: experiments as data files, a resumable runner, and outputs beside the paper's.

From an experiment file to a number; a module imports only from the lines above it::

    cells                        values that determine a computation, each with a key
    catalogue                    experiment files to tables of cells
    tables | compute | store     means over seeds and claims; one cell to its numbers; results in SQLite and CSV
    figures | engines            plots; where cells are computed: here, in processes, on Ray
    outputs | runner             terminal, files and page; what is computed, in which order
"""
