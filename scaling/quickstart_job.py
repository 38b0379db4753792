"""The three jobs of the quick start, on one module. Writes results and seconds to a file.

usage: python quickstart_job.py MODULE OUT.npz

Deconvolution of a photograph (the retina of scikit-image, blurred and with noise), k-means of its two million colours,
and k-means of scikit-learn's handwritten digits. Plain NumPy but for the name of the module.
"""

import importlib
import sys
import time

MODULE, OUT = sys.argv[1:3]
np = importlib.import_module(MODULE)  # first of all: under mpirun this keeps every rank but the first

import numpy  # noqa: E402
from programs import lloyd, richardson_lucy  # noqa: E402
from skimage import data  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402


def wait():
    if hasattr(np, "synchronize"):
        np.synchronize()


def timed(function, *args):
    """(seconds, results as NumPy arrays) of the second of two calls: the first warms up with a single iteration."""
    function(*args, 1)
    wait()
    start = time.perf_counter()
    out = function(*args, 10)
    wait()
    seconds = time.perf_counter() - start
    return seconds, [numpy.asarray(x) for x in (out if isinstance(out, tuple) else (out,))]


def main():
    true = data.retina().astype("float32") / 255
    blurred = richardson_lucy.degrade(true)
    pixels = true.reshape(-1, 3)
    # Colours from dark to bright to start with.
    start = pixels[numpy.argsort(pixels.sum(axis=1), kind="stable")[numpy.linspace(0, len(pixels) - 1, 8).astype(int)]]
    digits = load_digits()
    samples = digits.data.astype("float32")
    first = samples[[numpy.flatnonzero(digits.target == k)[0] for k in range(10)]]  # one sample of each digit

    results = {"true": true, "blurred": blurred, "digit_labels": digits.target}
    jobs = {
        "deconvolution": lambda iters: richardson_lucy.restore(np, observed, iters),
        "pixels": lambda iters: lloyd.cluster(np, points, np.asarray(start), iters),
        "digits": lambda iters: lloyd.cluster(np, handwriting, np.asarray(first), iters),
    }
    observed, points, handwriting = np.asarray(blurred), np.asarray(pixels), np.asarray(samples)
    for name, job in jobs.items():
        seconds, out = timed(job)
        results[f"{name}_seconds"] = seconds
        for i, values in enumerate(out):
            results[f"{name}_{i}"] = values
    numpy.savez(OUT, **results)


main()
