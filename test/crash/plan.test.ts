import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readArguments } from "../../dev/crash/arguments.ts";
import { planFaults } from "../../dev/crash/faults/plan.ts";
import {
  CLUSTER_FAMILIES,
  FAMILIES,
  NETWORK_FAULTS,
  ROLES,
  SERVERS,
  STORES,
} from "../../dev/crash/faults/surroundings.ts";
import { randomFrom } from "../../dev/crash/random.ts";

test("the same seed plans the same faults, and another seed plans others", () => {
  expect(planFaults(1, 50)).toEqual(planFaults(1, 50));
  expect(planFaults(1, 50)).not.toEqual(planFaults(2, 50));
});

test("a plan of 300 faults has every kind of fault and every target", () => {
  const faults = planFaults(1, 300).map(({ fault }) => fault);
  expect(new Set(faults.map(({ what }) => what))).toEqual(
    new Set(["kill", "backend", "index", "feed", "runner", "stop", "point"]),
  );
  expect(new Set(faults.flatMap((fault) => ("role" in fault ? [fault.role] : [])))).toEqual(
    new Set(["http", "services", "projections", "nats", "postgres", "meilisearch"]),
  );
});

test("every second fault of a plan is from the requested families, in equal parts", () => {
  const faults = planFaults(1, 40, ["stop", "network", "clock"]).map(({ fault }) => fault.what);
  const around = faults.filter((_, n) => n % 2 === 0);
  for (const what of ["stop", "network", "clock"])
    expect([6, 7]).toContain(around.filter((one) => one === what).length);
  expect(planFaults(1, 40, ["stop", "network", "clock"])).toEqual(planFaults(1, 40, ["stop", "network", "clock"]));
});

test("the harness refuses unknown faults, and faults for which a cluster has no target", () => {
  expect(readArguments(["--faults", "all"]).faults).toEqual([...FAMILIES]);
  expect(readArguments(["--faults", "all", "--cluster"]).faults).toEqual([...CLUSTER_FAMILIES]);
  expect(() => readArguments(["--faults", "stop,floods"])).toThrow(
    "--faults floods: without --cluster, choose from all, stop",
  );
  expect(() => readArguments(["--faults", "network", "--cluster"])).toThrow("with --cluster, choose from all, stop");
});

test("the harness lists its options on request, and explains a wrong option", () => {
  const program = fileURLToPath(new URL("../../dev/crash/run.ts", import.meta.url));
  const run = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
  const help = run("--help");
  expect([help.status, help.stdout]).toEqual([0, expect.stringMatching(/^usage: npm run crash -- .+--seed N/)]);
  const wrong = run("--kill", "3");
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringMatching(/^Unknown option '--kill'.*\nusage: /)]);
});

test("a plan with every fault of the surroundings fills, slows, stops and cuts every disk", () => {
  const faults = planFaults(1, 1_000, FAMILIES).map(({ fault }) => fault);
  const stores = (what: string) =>
    new Set(faults.flatMap((one) => (one.what === what && "store" in one ? one.store : [])));
  for (const what of ["disk", "readonly", "slow"]) expect(stores(what)).toEqual(new Set(STORES));
  expect(stores("power")).toEqual(new Set([...STORES, "everything"]));
});

test("a plan with network faults disturbs the way of each role to each server in every way", () => {
  const faults = planFaults(1, 2_000, ["network"]).map(({ fault }) => fault);
  const seen = faults.flatMap((one) => (one.what === "network" ? [`${one.role} ${one.server} ${one.way}`] : []));
  const all = ROLES.flatMap((role) =>
    SERVERS.flatMap((server) => NETWORK_FAULTS.map((way) => `${role} ${server} ${way}`)),
  );
  expect(new Set(seen)).toEqual(new Set(all));
});

test("a plan with every fault of the surroundings stops and limits each role and server, and moves each role's clock both ways", () => {
  const faults = planFaults(1, 3_000, FAMILIES).flatMap(({ fault }, n) => (n % 2 === 0 ? [fault] : []));
  for (const what of ["stop", "handles", "memory"])
    expect(new Set(faults.flatMap((one) => (one.what === what && "role" in one ? [one.role] : [])))).toEqual(
      new Set([...ROLES, ...SERVERS]),
    );
  const clocks = faults.flatMap((one) => (one.what === "clock" ? [`${one.role} ${one.hours}`] : []));
  expect(new Set(clocks)).toEqual(new Set(ROLES.flatMap((role) => [`${role} 1`, `${role} -1`])));
});

test("some stops last longer than 30 s, up to 60 s", () => {
  const stops = planFaults(1, 1_000, ["stop"]).flatMap(({ fault }, n) =>
    n % 2 === 0 && fault.what === "stop" ? [fault.ms] : [],
  );
  const long = stops.filter((ms) => ms > 30_000);
  expect(long.length / stops.length).toBeGreaterThan(0.08);
  expect(long.length / stops.length).toBeLessThan(0.25);
  expect(Math.max(...stops)).toBeGreaterThan(55_000);
  expect(Math.max(...stops)).toBeLessThanOrEqual(60_000);
});

test("a plan with network cuts between the servers of a NATS cluster cuts each of them in every way", () => {
  const faults = planFaults(1, 400, ["partition"]).map(({ fault }) => fault);
  const cuts = faults.filter((fault) => fault.what === "partition");
  const all = NETWORK_FAULTS.flatMap((way) => [0, 1, 2].map((node) => `${node} ${way}`));
  expect(new Set(cuts.map(({ node, way }) => `${node} ${way}`))).toEqual(new Set(all));
});

test("a seeded choice follows the weights of its options", () => {
  const random = randomFrom("weights");
  const picks = Array.from({ length: 2_000 }, () => random.weighted({ often: 9, rarely: 1 }));
  const rare = picks.filter((pick) => pick === "rarely").length;
  expect(rare).toBeGreaterThan(140);
  expect(rare).toBeLessThan(260);
});

test("every second fault of a plan is one of those that a planted bug needs, in turn", () => {
  const needed = [
    { what: "kill", role: "services", n: 1 },
    { what: "kill", role: "postgres" },
  ] as const;
  const faults = planFaults(1, 8, [], needed).map(({ fault }) => fault);
  expect(faults.filter((_, n) => n % 2 === 0)).toEqual([...needed, ...needed]);
});
