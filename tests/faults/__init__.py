"""Faults: processes killed at every disk step, full disks, signals, and two processes on one output."""
