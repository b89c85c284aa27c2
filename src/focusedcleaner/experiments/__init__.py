"""The paper's tables and figures: experiments as data, a resumable runner, and what it shows."""
