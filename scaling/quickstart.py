"""Runs the jobs of the quick start in NumPy, in Tilewise alone and in Tilewise under mpirun -n 2; prints the table and
writes the pictures. Called by launcher/quickstart."""

import os
import subprocess
import sys
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OUT = ROOT / "build" / "quickstart"
sys.path.insert(0, str(ROOT / "launcher"))

from harness import SLOWING  # noqa: E402
from tilewise_launcher import mpi  # noqa: E402

JOBS = {
    "deconvolution": "sharpen a photograph of 1411 x 1411 colour pixels",
    "pixels": "k-means of its 1,990,921 colours, 8 centres",
    "digits": "k-means of 1,797 handwritten digits, 10 centres",
}
RANKS = 2


def run(label, module, ranks=1):
    """The results of one way to run, by name."""
    out = OUT / f"{label}.npz"
    command = [sys.executable, str(HERE / "quickstart_job.py"), module, str(out)]
    env = {k: v for k, v in os.environ.items() if k not in SLOWING}
    if ranks > 1:
        found = mpi.find_mpirun()
        command = [found.path, "-n", str(ranks), *command]
        env |= mpi.missing(env)
    print(f"running {label} ...", flush=True)
    done = subprocess.run(command, env=env)
    if done.returncode:
        sys.exit(f"quickstart: {label} failed with status {done.returncode}")
    with numpy.load(out) as stored:
        return dict(stored)


def outputs(job, results):
    return [results[key] for key in sorted(results) if key.startswith(job + "_") and key[len(job) + 1:].isdigit()]


def same_bits(job, a, b):
    return all(x.dtype == y.dtype and x.tobytes() == y.tobytes()
               for x, y in zip(outputs(job, a), outputs(job, b), strict=True))


def largest_difference(job, a, b):
    """Of the first output: the picture, or the centres. Labels are whole numbers of points, shown by the clusters."""
    return float(numpy.abs(outputs(job, a)[0].astype("f8") - outputs(job, b)[0].astype("f8")).max())


def purity(results):
    """The share of digits that lie in a cluster where their own digit is the most frequent."""
    labels, truth = results["digits_1"], results["digit_labels"]
    return sum(numpy.bincount(truth[labels == k]).max() for k in numpy.unique(labels)) / len(truth)


def print_table(runs):
    labels = list(runs)
    base = runs["NumPy"]
    print(f"\n{'':52s}" + "".join(f"{label:>24s}" for label in labels))
    for job, what in JOBS.items():
        cells = []
        for label in labels:
            seconds = float(runs[label][f"{job}_seconds"])
            ratio = float(base[f"{job}_seconds"]) / seconds
            cells.append(f"{seconds:.3f} s" + (f" ({ratio:.1f} x)" if label != "NumPy" else ""))
        print(f"{what:52s}" + "".join(f"{cell:>24s}" for cell in cells))
    print()
    alike = True
    for job, what in JOBS.items():
        same = same_bits(job, *[runs[label] for label in labels[1:]]) if len(labels) > 2 else None
        alike &= same is not False
        text = {True: "same bits alone and under mpirun", False: "OTHER BITS under mpirun", None: "no mpirun"}[same]
        print(f"{what:52s}largest difference from NumPy {largest_difference(job, base, runs['Tilewise']):.1e}; {text}")
    print(f"{purity(runs['Tilewise']):.0%} of the digits lie in a cluster of their own kind "
          f"(NumPy: {purity(base):.0%})")
    return alike


def write_pictures(results):
    """Blurred, restored and true side by side, and the photograph in its eight colours; names and errors."""
    from PIL import Image

    def image(values):
        return (numpy.clip(values, 0, 1) * 255 + 0.5).astype("uint8")

    true, blurred, restored = results["true"], results["blurred"], results["deconvolution_0"]
    middle = (slice(400, 1000), slice(300, 900))  # where the vessels are finest
    Image.fromarray(image(numpy.hstack([blurred[middle], restored[middle], true[middle]]))).save(OUT / "retina.png")
    eight = results["pixels_0"][results["pixels_1"]].reshape(true.shape)
    Image.fromarray(image(eight)).save(OUT / "eight_colours.png")

    def error(values):
        return float(numpy.sqrt(((values - true) ** 2).mean()))

    print(f"distance from the true picture: blurred {error(blurred):.4f}, restored {error(restored):.4f}")
    print(f"pictures: {OUT / 'retina.png'} (blurred, restored, true), {OUT / 'eight_colours.png'}")


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    runs = {"NumPy": run("NumPy", "numpy"), "Tilewise": run("Tilewise", "tilewise")}
    if mpi.find_mpirun():
        runs[f"mpirun -n {RANKS}"] = run(f"mpirun -n {RANKS}", "tilewise", RANKS)
    alike = print_table(runs)
    write_pictures(runs["Tilewise"])
    return 0 if alike else 1


if __name__ == "__main__":
    sys.exit(main())
