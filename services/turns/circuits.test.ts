import { expect, test, vi } from "vitest";
import { createCircuits } from "./circuits.ts";

function start() {
  let at = 1_000_000;
  const onOpened = vi.fn<() => void>();
  const circuits = createCircuits({ onOpened, now: () => at });
  return { circuits, onOpened, pass: (seconds: number) => void (at += seconds * 1_000) };
}

test("a silent target is not asked again until its probe", () => {
  const { circuits, onOpened, pass } = start();
  circuits.begin("a")("slow");
  expect(circuits.state("a")).toBe("silent");
  expect(circuits.state("b")).toBe("closed");
  pass(15);
  expect(circuits.state("a")).toBe("closed");
  const probe = circuits.begin("a");
  expect(circuits.state("a")).toBe("silent");
  probe("slow");
  pass(15);
  expect(circuits.state("a")).toBe("silent");
  pass(15);
  circuits.begin("a")("answered");
  expect(circuits.state("a")).toBe("closed");
  circuits.begin("a")("failed");
  expect(circuits.state("a")).toBe("closed");
  expect(onOpened).toHaveBeenCalledOnce();
});

test("three failures in a row open a circuit, and an answer between them does not let them add up", () => {
  const { circuits } = start();
  for (const outcome of ["failed", "failed", "answered", "failed", "failed"] as const) circuits.begin("a")(outcome);
  expect(circuits.state("a")).toBe("closed");
  circuits.begin("a")("failed");
  expect(circuits.state("a")).toBe("open");
});

test("a busy target is left alone for as long as it asks", () => {
  const { circuits, pass } = start();
  circuits.begin("a")("failed", { reason: "429", retry_after_ms: 2_000 });
  expect(circuits.state("a")).toBe("open");
  pass(2);
  expect(circuits.state("a")).toBe("closed");
});

test("an organization with thousands of failing models loses its own circuits, and nobody else does", () => {
  const { circuits } = start();
  circuits.begin("other/x/model")("slow");
  for (let n = 0; n < 12_000; n++) circuits.begin(`one/x/model-${n}`)("slow");
  expect(circuits.state("other/x/model")).toBe("silent");
  expect(circuits.state("one/x/model-11999")).toBe("silent");
  expect(circuits.state("one/x/model-0")).toBe("closed");
  expect(circuits.list("one/")).toHaveLength(1_000);
  circuits.begin("one/x/model-11999")("answered");
  circuits.begin("one/x/new")("slow");
  expect(circuits.list("one/")).toHaveLength(1_000);
  for (let n = 0; n < 12_000; n++) circuits.begin(`organization-${n}/x/model`)("slow");
  expect(circuits.state("other/x/model")).toBe("closed");
});

test("a probe that was abandoned makes room for another", () => {
  const { circuits, pass } = start();
  circuits.begin("a")("slow");
  pass(15);
  circuits.begin("a")("other");
  expect(circuits.state("a")).toBe("closed");
});

test("a probe that hangs blocks others for a minute, and its end has no effect once another one was answered", () => {
  const { circuits, pass } = start();
  const down = { reason: "503", isDown: true };
  for (let n = 0; n < 3; n++) circuits.begin("a")("failed", down);
  pass(15);
  const hung = circuits.begin("a");
  pass(59);
  expect([circuits.state("a"), circuits.findOutage("a")?.reason]).toEqual(["open", "503"]);
  pass(1);
  expect([circuits.state("a"), circuits.findOutage("a")]).toEqual(["closed", undefined]);
  const next = circuits.begin("a");
  expect(circuits.state("a")).toBe("open");
  next("answered");
  hung("failed", down);
  expect(circuits.state("a")).toBe("closed");
});

test("the end of a probe that hung makes no room while another one is in progress", () => {
  const { circuits, pass } = start();
  circuits.begin("a")("slow");
  pass(15);
  const hung = circuits.begin("a");
  pass(60);
  const next = circuits.begin("a");
  hung("other");
  expect(circuits.state("a")).toBe("silent");
  next("other");
  expect(circuits.state("a")).toBe("closed");
});

const quiet = (ms: number, opens_after_ms: number) => ({ reason: "timeout", quiet: { ms, opens_after_ms } });

test("a target that is silent until the end of a short turn is skipped, and a silence of less than a second is ignored", () => {
  const { circuits, pass } = start();
  circuits.begin("a")("quiet", quiet(900, 0));
  expect([circuits.state("a"), circuits.list("")]).toEqual(["closed", []]);
  circuits.begin("a")("quiet", quiet(20_000, 5_000));
  expect(circuits.state("a")).toBe("open");
  expect(circuits.list("")).toMatchObject([{ state: "open", failures: 1, reason: "timeout" }]);
  pass(15);
  circuits.begin("a")("quiet", quiet(20_000, 5_000));
  pass(29);
  expect(circuits.state("a")).toBe("open");
  pass(1);
  circuits.begin("a")("answered");
  expect(circuits.state("a")).toBe("closed");
});

test("silences of readers that leave add up to a minute, those beside each other once, and an answer between them ends the sum", () => {
  const { circuits, pass } = start();
  const wait = (seconds: number, readers = 1) => {
    pass(seconds);
    for (let n = 0; n < readers; n++) circuits.begin("a")("quiet", quiet(seconds * 1_000, 60_000));
    return circuits.state("a");
  };
  expect(wait(20, 100)).toBe("closed");
  circuits.begin("a")("answered");
  expect([wait(20, 100), wait(20), wait(19), wait(1)]).toEqual(["closed", "closed", "closed", "open"]);
});

test("a process remembers 10,000 targets", () => {
  const { circuits } = start();
  for (let n = 0; n <= 10_000; n++) circuits.begin(`target ${n}`)("slow");
  expect(circuits.state("target 0")).toBe("closed");
  expect(circuits.state("target 1")).toBe("silent");
});

test("circuits are listed by the beginning of their keys: closed, open and half open, since their first failure", () => {
  const { circuits, pass } = start();
  circuits.begin("one/a")("failed", { reason: "500" });
  circuits.begin("two/a")("failed");
  pass(1);
  const since = 1_000_000;
  const a = { target: "a", since };
  expect(circuits.list("one/")).toEqual([{ ...a, state: "closed", failures: 1, reason: "500", open_until: null }]);
  circuits.begin("one/a")("failed", { reason: "503", retry_after_ms: 5_000 });
  const open_until = since + 6_000;
  expect(circuits.list("one/")).toEqual([{ ...a, state: "open", failures: 2, reason: "503", open_until }]);
  pass(5);
  expect(circuits.list("one/")).toEqual([{ ...a, state: "half_open", failures: 2, reason: "503", open_until: null }]);
  circuits.begin("one/a")("answered");
  expect(circuits.list("one/")).toEqual([]);
});
