#!/usr/bin/env python3
"""EASE, a strong centralised linear model (Steck, WWW 2019), as a mark to hold federated methods to.

usage: tools/ease.py SPLIT.tsv[.gz] [--regularization L,L,...]

SPLIT is what `fedhur data split` writes: columns client, user, item, split. All users' rows are seen
at once. The regularization is chosen by NDCG@10 on the validation part; prints test Recall@10, MRR@10
and NDCG@10 under fedhur's protocol (all items ranked but those trained on, and validated on for the
test; users without truth left out). Needs NumPy and SciPy.
"""
import argparse
import gzip
import sys

try:
    import numpy as np
    from scipy.linalg import lapack
except ImportError:
    sys.exit("ease.py: NumPy or SciPy is missing; install python3-numpy and python3-scipy")

K = 10


def read_split(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        header = file.readline().rstrip("\n").split("\t")
        if header != ["client", "user", "item", "split"]:
            sys.exit(f"ease.py: {path}: expected the columns client, user, item, split, found {header}")
        rows = [line.rstrip("\n").split("\t") for line in file]
    users = {name: i for i, name in enumerate(dict.fromkeys(row[1] for row in rows))}
    items = {name: i for i, name in enumerate(dict.fromkeys(row[2] for row in rows))}
    parts = {part: np.zeros((len(users), len(items)), dtype=bool) for part in ("train", "valid", "test")}
    for _, user, item, part in rows:
        parts[part][users[user], items[item]] = True
    return parts


def fit(train, regularization):
    """Item-item weights B with a zero diagonal that minimise |X - XB|^2 + L |B|^2."""
    gram = train.T @ train
    gram[np.diag_indices_from(gram)] += regularization
    factor, info = lapack.spotrf(gram, lower=False, overwrite_a=True)
    inverse, info2 = lapack.spotri(factor, lower=False, overwrite_c=True)
    if info or info2:
        sys.exit("ease.py: the matrix is not positive definite; choose a larger --regularization")
    inverse = np.triu(inverse) + np.triu(inverse, 1).T
    weights = inverse / -np.diag(inverse)
    np.fill_diagonal(weights, 0)
    return weights


def judge(scores, seen, truth):
    scores = np.where(seen, -np.inf, scores)
    best = np.argpartition(-scores, K, axis=1)[:, :K]
    order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable")
    hits = np.take_along_axis(truth, np.take_along_axis(best, order, 1), 1)
    discounts = 1 / np.log2(np.arange(2, K + 2))
    size = truth.sum(1)
    judged = size > 0
    hits, size = hits[judged], size[judged]
    ideal = np.cumsum(discounts)[np.minimum(size, K) - 1]
    first = np.where(hits.any(1), hits.argmax(1) + 1, np.inf)
    return (hits.sum(1) / size).mean(), (1 / first).mean(), ((hits * discounts).sum(1) / ideal).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("split")
    parser.add_argument("--regularization", default="100,200,400,800,1600")
    arguments = parser.parse_args()
    parts = read_split(arguments.split)
    train = parts["train"].astype(np.float32)
    best = None
    for regularization in map(float, arguments.regularization.split(",")):
        scores = train @ fit(train, regularization)
        valid = judge(scores, parts["train"], parts["valid"])[2]
        if best is None or valid > best[0]:
            best = (valid, regularization, judge(scores, parts["train"] | parts["valid"], parts["test"]))
    valid, regularization, (recall, mrr, ndcg) = best
    print(f"regularization {regularization:g}  valid ndcg@10 {valid:.4f}  "
          f"test recall@10 {recall:.4f}  mrr@10 {mrr:.4f}  ndcg@10 {ndcg:.4f}")


if __name__ == "__main__":
    main()
