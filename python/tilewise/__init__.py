"""Tilewise: a NumPy-compatible array whose data lies in tiles on the devices of one machine or a cluster."""
