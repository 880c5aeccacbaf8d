import { expect, test, vi } from "vitest";
import { watchLogLimits } from "./logLimits.ts";

const settings = { ORGANIZATION_LOG_MEGABYTES: 1, ORGANIZATION_MEGABYTES: 2 };
const open = (query: (text: string, values: number[]) => Promise<{ id: string; limited: string }[]>) => {
  const logger = { warn: vi.fn(), info: vi.fn() };
  return { logger, ...watchLogLimits({ db: { query } as never, settings, logger }) };
};

test("an organization over the limit is refused until it is within it, and both are logged once", async () => {
  let over = ["o1"];
  const { refusal, countReached, look, stop, logger } = open(async () => over.map((id) => ({ id, limited: "events" })));
  await look();
  await look();
  expect(refusal("o1")).toEqual({
    code: "storage_limit_reached",
    message: expect.stringMatching(/more than 1 MB.*ORGANIZATION_LOG_MEGABYTES/),
  });
  expect([refusal("o2"), countReached()]).toEqual([undefined, 1]);
  expect(logger.warn.mock.calls.map(([fields]) => fields)).toEqual([{ organization_id: "o1", limited: "events" }]);
  over = [];
  await look();
  expect([refusal("o1"), countReached()]).toEqual([undefined, 0]);
  expect(logger.info).toHaveBeenCalledTimes(1);
  await stop();
});

test("an organization whose events take 10 % more than they may is refused everything that can be repeated", async () => {
  let limited = "events";
  const query = vi.fn(async () => [{ id: "o1", limited }]);
  const { refusal, finalRefusal, look, stop, logger } = open(query);
  await look();
  expect([refusal("o1")?.message, finalRefusal("o1")]).toEqual([expect.stringMatching(/more than 1 MB/), undefined]);
  limited = "final";
  await look();
  expect(finalRefusal("o1")).toEqual({
    code: "storage_limit_reached",
    message: expect.stringMatching(/10 % more than 1 MB.*ORGANIZATION_LOG_MEGABYTES/),
  });
  expect([refusal("o1"), finalRefusal("o2")]).toEqual([finalRefusal("o1"), undefined]);
  expect(query.mock.lastCall).toEqual([expect.any(String), [1_000_000, 2_000_000, 1_100_000]]);
  expect(logger.warn.mock.calls.map(([fields]) => fields.limited)).toEqual(["events", "final"]);
  await stop();
});

test("a look that fails keeps the last figures, and is logged", async () => {
  let fails = false;
  const query = async () => {
    if (fails) throw new Error("gone");
    return [{ id: "o1", limited: "values" }];
  };
  const watch = open(query);
  await watch.look();
  fails = true;
  await expect(watch.look()).rejects.toThrow("gone");
  expect(watch.refusal("o1")?.message).toMatch(/more than 2 MB.*ORGANIZATION_MEGABYTES/);
  await watch.stop();

  const broken = open(query);
  await vi.waitFor(() => expect(broken.logger.warn).toHaveBeenCalled());
  expect(broken.logger.warn.mock.calls[0]![0].err.message).toBe("gone");
  await broken.stop();
});
