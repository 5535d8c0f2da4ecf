#!/usr/bin/env python3
"""Computes a dumped round once more, in double precision, from the equations.

usage: tools/check_round.py DUMP [--clients N]

DUMP is what `fedhur train --dump-round R --dump-dir DUMP` has written. Needs NumPy and nothing of
fedhur. Prints the largest relative deviation of every quantity (the largest difference of two
arrays' numbers, divided by the largest number); ends with 1 if one is beyond its limit. Fine-tuning
needs dense filters and is checked for N clients (3, spread evenly; 0 for all).
"""
import argparse
import json
import pathlib
import sys

try:
    import numpy as np
except ImportError:
    sys.exit("check_round.py: NumPy is missing; install python3-numpy")

MOST_ITEMS = 6000  # of a dense filter: 288 MB


class Report:
    def __init__(self):
        self.largest = {}  # name -> (deviation, limit), in order of first mention
        self.facts = []

    def compare(self, name, found, expected, limit):
        found, expected = np.asarray(found), np.asarray(expected)
        if found.shape != expected.shape:
            sys.exit(f"check_round.py: {name} has shape {found.shape}, expected {expected.shape}")
        scale = np.abs(expected).max(initial=0.0) or 1.0
        self.note(name, np.abs(found - expected).max(initial=0.0) / scale, limit)

    def note(self, name, deviation, limit):
        before = self.largest.get(name, (0.0, limit))[0]
        worst = deviation if np.isnan(deviation) else max(before, float(deviation))
        self.largest[name] = (worst, limit)

    def tell(self, fact):
        self.facts.append(fact)

    def finish(self):
        is_off = False
        print(f"{'largest relative deviation of':<58} {'found':>8}  {'limit':>5}")
        for name, (deviation, limit) in self.largest.items():
            ok = deviation <= limit
            is_off = is_off or not ok
            print(f"{name:<58} {deviation:8.1e}  {limit:5.0e}  {'' if ok else 'OFF'}".rstrip())
        for fact in self.facts:
            print(fact)
        return 1 if is_off else 0


class Dump:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.config = json.loads((self.folder / "config.json").read_text())
        self.num_clients = len(list((self.folder / "item_embeddings").glob("*.npy")))
        self.embeddings = self.of_clients("item_embeddings")
        self.basis = self.array("global_filter_basis")
        self.values = self.array("global_filter_values")
        path = self.folder / "hierarchy.json"
        self.scopes = json.loads(path.read_text()) if path.exists() else []

    def array(self, name):
        stored = np.load(self.folder / (name + ".npy"))
        if stored.dtype != np.float32 or (stored.ndim > 1 and not stored.flags.c_contiguous):
            sys.exit(f"check_round.py: {name} is not float32 in C order")
        return stored.astype(np.float64)

    def of_clients(self, name):
        return [self.array(f"{name}/{k}") for k in range(self.num_clients)]

    def get(self, key, default=None):
        return self.config.get(key, default)


def mean_gram(tables):
    return sum(table @ table.T for table in tables) / len(tables)


def standardize(scores):
    """Norm_j of every row; zeros where the row is constant but for rounding."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True))
    is_constant = deviation <= 1e-5 * np.abs(scores).max(axis=1, keepdims=True)
    return np.where(is_constant, 0.0, centred / np.where(is_constant, 1.0, deviation))


def check_global_information(dump, report):
    E = dump.embeddings
    V, values = dump.basis, dump.values
    report.compare("E_g", dump.array("global_item_embeddings"), sum(E) / len(E), 1e-6)
    used = values > 0
    gram = V[:, used].T @ V[:, used]
    report.note("V: columns orthonormal", np.abs(gram - np.eye(len(gram))).max(), 1e-4)
    report.note("Lambda: descending", max(0.0, np.diff(values).max(initial=0.0)) / values[0], 0.0)
    product = sum(e @ (e.T @ V) for e in E) / len(E)
    residual = np.linalg.norm(product - V * values, axis=0)[used] / values[0]
    trace = sum((e**2).sum() for e in E) / len(E)
    kept = values.sum() / trace
    fact = (
        f"eigenpairs: {used.sum()} of S_g ({V.shape[0]} x {V.shape[0]}); |S v - lambda v| / lambda_1: "
        f"{np.median(residual):.1e} median, {residual.max():.1e} largest; trace kept {kept:.5f}"
    )
    if V.shape[0] <= MOST_ITEMS:
        exact = np.linalg.eigvalsh(mean_gram(E))[::-1][: len(values)]
        best = exact.sum() / trace
        # Eigenvalues from a subspace lie below the exact ones.
        report.note("Lambda: above the exact eigenvalues",
                    max(0.0, ((values - exact) / exact[0]).max()), 1e-5)
        report.note("trace kept: short of the best possible", (best - kept) / best, 0.02)
        fact += f" (at best {best:.5f}); largest |lambda - exact| / exact: "
        fact += f"{(np.abs(values - exact) / np.maximum(exact, 1e-6 * exact[0])).max():.1e}"
    report.tell(fact)


def check_hierarchy(dump, report):
    """Members divide the parent's member; k-means leaves few items with a farther centre."""
    faults = 0
    num_items = len(dump.basis)
    for position, scope in enumerate(dump.scopes):
        items = sorted(item for member in scope["members"] for item in member)
        if scope["parent"] is None:
            expected, level = list(range(num_items)), 0
        else:
            above = dump.scopes[scope["parent"][0]]
            expected, level = sorted(above["members"][scope["parent"][1]]), above["level"] + 1
        faults += scope["id"] != position or scope["level"] != level or items != expected
        faults += any(not member or member != sorted(member) for member in scope["members"])
    num_levels = 1 + max(scope["level"] for scope in dump.scopes)
    for level in range(num_levels):
        count = sum(len(m) for s in dump.scopes if s["level"] == level for m in s["members"])
        faults += count != num_items
    report.note("hierarchy: faults", faults, 0)

    E_g = dump.array("global_item_embeddings")
    norms = np.linalg.norm(E_g, axis=1, keepdims=True)
    points = E_g / np.where(norms > 0, norms, 1.0)
    farther = total = 0
    for scope in dump.scopes:
        if all(len(member) == 1 for member in scope["members"]):
            continue
        centres = np.stack([points[member].mean(axis=0) for member in scope["members"]])
        for b, member in enumerate(scope["members"]):
            distances = ((points[member][:, None, :] - centres[None]) ** 2).sum(axis=2)
            farther += (distances[:, b] > distances.min(axis=1) + 1e-6).sum()
            total += len(member)
    sizes = [len(s["members"]) for s in dump.scopes]
    report.tell(
        f"hierarchy: {len(sizes)} scopes on {num_levels} levels, {min(sizes)} to {max(sizes)} members; "
        f"{farther} of {total} items are nearer to the centre of a sibling group"
    )


class ScopeCheck:
    def __init__(self, dump, scope, report):
        self.dump, self.scope, self.report = dump, scope, report
        self.folder = f"scopes/{scope['id']}/"
        self.members = scope["members"]
        self.is_of_items = all(len(member) == 1 for member in self.members)
        self.kind = "items" if self.is_of_items else "groups"
        self.short = 0.0  # of F_g, by the rank of the global filter
        self.worst_query = (0.0, 1.0)
        self.worst_residual = 0.0
        self.noise_queries = 0  # columns that are rounding alone, made as long as the others
        self.Z = [np.stack([E[member].mean(axis=0) for member in self.members])
                  for E in dump.embeddings]

    def array(self, name):
        return self.dump.array(self.folder + name)

    def check_filter(self, filters):
        """F_g; that of items is built from the rank-r global filter, as the clients build it."""
        F_g = mean_gram(self.Z)
        inherited = 0.0
        if self.scope["parent"] is not None:
            parent, member = self.scope["parent"]
            beta = self.dump.get("beta")[self.scope["level"] - 1]
            inherited = beta * filters[parent][member, member]
        found = self.array("global_relation_filter")
        expected = F_g
        if self.is_of_items:
            rows = self.dump.basis[[member[0] for member in self.members]]
            expected = (rows * self.dump.values) @ rows.T
            scale = np.abs(F_g + inherited).max()
            self.short = np.abs(found - F_g - inherited).max() / scale
        self.report.compare(f"F_g with inheritance, scopes of {self.kind}", found,
                            expected + inherited, 1e-5)
        return found

    def check_queries(self, F_g):
        """Q, whose columns U p can be far shorter than the H p from which they are left over: that
        magnifies rounding, so a column's deviation is measured in units of H p. The raw one and
        its magnification are told as well."""
        P = self.array("projection")
        largest = np.linalg.eigvalsh(F_g)[-1]
        is_spectral = self.dump.get("filter_scale") == "spectral"
        F = F_g if not is_spectral else (F_g / largest if largest > 0 else 0.0 * F_g)
        for Z, found in zip(self.Z, self.dump.of_clients(self.folder + "projected_query")):
            HP = Z @ (Z.T @ P)
            HFP = Z @ (Z.T @ (F @ P))
            U = {"utility": HP - 0.5 * (HFP + F @ HP), "local": HP, "right": HP - HFP,
                 "left": HP - F @ HP}[self.dump.get("form")]
            norms = np.linalg.norm(U, axis=0)
            deviations = np.linalg.norm(found - U / np.where(norms > 0, norms, 1.0), axis=0)
            whole = np.linalg.norm(HP, axis=0)
            left_over = norms / np.where(whole > 0, whole, 1.0)
            self.report.note("Q, where H p = 1", (deviations * left_over).max(), 1e-5)
            is_noise = left_over < 1e-6
            self.noise_queries += (is_noise & (deviations > 0.5)).sum()
            if is_noise.all():
                continue
            worst = np.where(is_noise, 0.0, deviations).argmax()
            self.worst_query = max(self.worst_query, (deviations[worst], 1.0 / left_over[worst]))

    def direct_scores(self):
        relation = self.dump.get("relation")
        K = self.dump.num_clients
        if relation in ("utility", "common"):
            Q = self.dump.of_clients(self.folder + "projected_query")
            rows = np.concatenate([q.T for q in Q])
            strengths = np.stack([((rows @ Z) ** 2).sum(axis=1) for Z in self.Z], axis=1)
            scores = strengths.reshape(K, -1, K).sum(axis=1)
            if self.dump.get("normalize") == "energy":
                energy = np.array([(Z**2).sum() for Z in self.Z])
                scores = np.where(energy > 0, scores / np.where(energy > 0, energy, 1.0), 0.0)
            return scores
        if relation == "own":
            return np.eye(K)
        if relation == "similarity":
            flat = np.stack([Z.ravel() for Z in self.Z])
            norms = np.linalg.norm(flat, axis=1, keepdims=True)
            flat = flat / np.where(norms > 0, norms, 1.0)
            return flat @ flat.T
        return None  # complementarity depends on principal directions, which are not dumped

    def check_weights(self):
        found = self.array("direct_scores")
        expected = self.direct_scores()
        if expected is not None:
            self.report.compare("s (direct scores)", found, expected, 1e-5)
        r = self.array("retrieval_scores")
        if self.dump.get("lambda") == 0 and self.dump.get("relation") == "common":
            mean = np.broadcast_to(found.mean(axis=0), found.shape)
            self.report.compare("r = mean of s over targets", r, mean, 1e-6)
        elif self.dump.get("lambda") == 0:
            self.report.compare("r = s (lambda = 0)", r, found, 0.0)
        clip = self.dump.get("clip")
        logits = np.clip(standardize(r), -clip, clip) / self.dump.get("tau")
        alpha = np.exp(logits - logits.max(axis=1, keepdims=True))
        alpha /= alpha.sum(axis=1, keepdims=True)
        if self.dump.get("relation") == "own":
            alpha = np.eye(len(r))
        self.report.compare("alpha (weights), from r", self.array("aggregation_weights"), alpha,
                            1e-4)

    def check_residuals(self):
        """R_k = sum_j alpha_kj (F_j - F_g); what is inherited cancels. Where clients are alike, so
        does most of the rest: deviations are measured in units of F_j. Returns the dumped ones."""
        alpha = self.array("aggregation_weights")
        is_single = self.dump.get("structure") == "single"
        Z = [self.dump.basis.T @ z for z in self.Z] if is_single else self.Z
        grams = np.stack([(z @ z.T).ravel() for z in Z])
        m = len(Z[0])
        averages_parameters = (self.dump.get("coarse") == "parameters" and not is_single
                               and self.scope["level"] == 0)
        if averages_parameters:
            averages = np.tensordot(alpha, np.stack(Z), axes=1)
            expected = np.stack([(a @ a.T).ravel() for a in averages]) - grams.mean(axis=0)
        else:
            expected = alpha @ grams - grams.mean(axis=0)
        name = "residual_core" if is_single else "residual_filter"
        found = self.dump.of_clients(self.folder + name)
        kind = "in the global basis" if is_single else f"scopes of {self.kind}"
        scale = np.abs(grams).max()
        for k, R in enumerate(found):
            difference = np.abs(R - expected[k].reshape(m, m)).max()
            self.report.note(f"R_k (residuals), where F_j = 1, {kind}", difference / scale, 1e-6)
            self.worst_residual = max(self.worst_residual,
                                      difference / (np.abs(expected[k]).max() or 1.0))
        return found

    def add_to(self, filter, R):
        """beta Map(R): the value of a pair of members for all pairs of their items."""
        member_of = np.full(len(filter), -1)
        for b, member in enumerate(self.members):
            member_of[member] = b
        items = np.flatnonzero(member_of >= 0)
        expanded = R[np.ix_(member_of[items], member_of[items])]
        filter[np.ix_(items, items)] += self.dump.get("beta")[self.scope["level"]] * expanded


def positive_part(symmetric):
    values, vectors = np.linalg.eigh(symmetric)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def step_by_gradient(E, S, config):
    for _ in range(config["steps"]):
        M = E @ E.T - S
        gradient = 2.0 * (M @ E) / np.linalg.norm(M)
        E = E - config["learning_rate"] * (gradient + config["weight_decay"] * E)
    return E


def check_fine_tuning(dump, report, client, S_g, S):
    """||E E^T - S||_F against what Eckart and Young allow, and the rotation against Procrustes."""
    before = dump.embeddings[client]
    tuned = dump.array(f"fine_tuned/{client}")
    has_noise = dump.get("laplace_scale") > 0  # the client itself knows its embeddings without it
    if dump.get("step") < 1 and not has_noise:
        tuned = before + (tuned - before) / dump.get("step")
    d = tuned.shape[1]
    values, vectors = np.linalg.eigh(S)
    top = np.maximum(values[::-1][:d], 0.0)
    least = np.sqrt(max(0.0, (values**2).sum() - (top**2).sum()))
    reached = np.linalg.norm(tuned @ tuned.T - S)
    start = np.linalg.norm(before @ before.T - S)
    scale = np.linalg.norm(S)
    gap = (reached - least) / scale
    above = f"{reached / least - 1:.2e} above it" if least > 1e-6 * scale else "which is nothing"
    by_magnitude = values[np.argsort(-np.abs(values))[:d]]
    report.tell(
        f"client {client}: ||E E^T - S~||_F {start:.6g} before, {reached:.6g} after, {least:.6g} at best: "
        f"{above}; {100 * (start - reached) / (start - least):.3f} % of the possible gain; "
        f"||S~||_F = {scale:.6g}"
    )
    report.tell(
        f"client {client}: {(by_magnitude < 0).sum()} of the {d} largest |eigenvalues| of S~ are negative, "
        f"lambda_{d} / lambda_1 = {values[::-1][d - 1] / values[-1]:.2e}, "
        f"||S~ - S_g||_F / ||S~||_F = {np.linalg.norm(S - S_g) / scale:.3f}"
    )
    if dump.get("solver") == "gradient":
        if not has_noise:
            expected = step_by_gradient(before, S, dump.config)
            # Near an optimum of 0 normalised steps leap to and fro, and rounding decides where to.
            if least > 1e-6 * scale:
                report.compare("fine-tuned by gradient steps", tuned, expected, 1e-3)
            report.tell(f"client {client}: gradient steps end "
                        f"{np.linalg.norm(tuned - expected) / np.linalg.norm(expected):.2e} away")
        return
    report.note("fine-tuned: objective below the least, where ||S~|| = 1", max(0.0, -gap), 1e-6)
    report.note("fine-tuned: objective above the least, where ||S~|| = 1", max(0.0, gap), 1e-2)
    Q, singular, _ = np.linalg.svd(tuned, full_matrices=False)
    Q = Q[:, singular > 1e-5 * singular[0]]
    ritz = Q @ positive_part(Q.T @ S @ Q) @ Q.T
    report.compare("fine-tuned: E E^T best within its own span", tuned @ tuned.T, ritz, 1e-3)
    if has_noise:
        return
    # T O is the rotation of T nearest to E where (T O)^T E is symmetric and not negative.
    overlap = tuned.T @ before
    largest = np.abs(overlap).max()
    report.note("fine-tuned: nearest rotation", np.abs(overlap - overlap.T).max() / largest, 1e-3)
    smallest = np.linalg.eigvalsh(0.5 * (overlap + overlap.T))[0]
    report.note("fine-tuned: nearest rotation, negative part", max(0.0, -smallest) / largest, 1e-3)
    best = (vectors[:, ::-1][:, :d]) * np.sqrt(top)
    left, _, right = np.linalg.svd(best.T @ before)
    report.tell(
        f"client {client}: distance of the fine-tuned embeddings from the exact ones "
        f"{np.linalg.norm(tuned - best @ (left @ right)) / np.linalg.norm(best):.2e} of their norm, "
        f"moved {np.linalg.norm(tuned - before) / np.linalg.norm(before):.3f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dump")
    parser.add_argument("--clients", type=int, default=3)
    arguments = parser.parse_args()
    try:
        dump = Dump(arguments.dump)
    except OSError as problem:
        sys.exit(f"check_round.py: {problem}")
    report = Report()
    print(f"{dump.get('method')}, round {dump.get('round')}: {dump.num_clients} clients, "
          f"{dump.embeddings[0].shape[0]} items, d = {dump.embeddings[0].shape[1]}")
    check_global_information(dump, report)

    checks, residuals, filters = [], [], []
    if dump.scopes:
        check_hierarchy(dump, report)
    for scope in dump.scopes:
        check = ScopeCheck(dump, scope, report)
        filters.append(check.check_filter(filters))
        if dump.get("relation") in ("utility", "common"):
            check.check_queries(filters[-1])
        check.check_weights()
        residuals.append(check.check_residuals())
        checks.append(check)
    if dump.scopes:
        report.tell(f"F_g of items from rank {len(dump.values)} instead of all of S_g: "
                    f"{max(check.short for check in checks):.2e} away, at most")
        report.tell(f"R_k: {max(check.worst_residual for check in checks):.2e} of its own largest "
                    "number away, at most")
        if dump.get("relation") in ("utility", "common"):
            deviation, magnified = max(check.worst_query for check in checks)
            noise = sum(check.noise_queries for check in checks)
            report.tell(f"Q: {deviation:.2e} away at most, in a column where U p is {magnified:.0f} "
                        f"times shorter than H p; {noise} columns are rounding alone (U p = 0)")

    num_items = len(dump.basis)
    if num_items > MOST_ITEMS:
        report.tell(f"fine-tuning is not checked: {num_items} items are too many for dense filters")
        return report.finish()
    count = arguments.clients if 0 < arguments.clients < dump.num_clients else dump.num_clients
    S_g = (dump.basis * dump.values) @ dump.basis.T
    for client in np.linspace(0, dump.num_clients - 1, count).astype(int):
        S = S_g.copy()
        if dump.get("structure") == "single" and dump.scopes:
            core = np.diag(dump.values) + dump.get("beta")[0] * residuals[0][client]
            S = dump.basis @ positive_part(core) @ dump.basis.T
        else:
            for check, R in zip(checks, residuals):
                check.add_to(S, R[client])
        if dump.get("scale") == "trace":
            S *= np.trace(S_g) / np.trace(S)
        check_fine_tuning(dump, report, client, S_g, S)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
