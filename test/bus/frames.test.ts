import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import type { Frame } from "#events/ports.ts";
import { testBus } from "#test/harness.ts";
import { openBus, newCommand, succeed, noOutcomes, until, startWorker } from "./bus.ts";

const server = testBus();
const frame = (n: number): Frame => ({ attempt: 1, n, type: "text", text: `word ${n} \u0000` });

test("frames arrive live and in order, and are stored for later readers", async () => {
  const [http, services, late] = await Promise.all([openBus(server), openBus(server), openBus(server)]);
  const [organization, turn] = [newId(), newId()];
  await startWorker(services, async () => {
    for (let n = 0; n < 2500; n += 1) services.frames.publish(organization, turn, frame(n));
    services.frames.publish(organization, newId(), frame(0));
    return succeed();
  });
  const live: Frame[] = [];
  const leave = http.frames.subscribe(organization, turn, (given) => live.push(given));
  await http.sender(noOutcomes).send(newCommand());
  await until(() => live.length >= 2500);
  const all = Array.from({ length: 2500 }, (_, n) => frame(n));
  expect(live).toEqual(all);
  expect(await late.frames.loadFrames(organization, turn)).toEqual(all);
  expect(await late.frames.loadFrames(newId(), turn)).toEqual([]);

  leave();
  services.frames.publish(organization, turn, frame(2500));
  await until(async () => (await late.frames.loadFrames(organization, turn)).length === 2501);
  expect(live).toHaveLength(2500);
});

test("a stop request reaches the turn's worker, in this process and in another, and no other turn", async () => {
  const [http, services] = await Promise.all([openBus(server), openBus(server)]);
  const [organization, turn] = [newId(), newId()];
  const received: string[] = [];
  const leave = services.frames.onStop(organization, turn, () => received.push("other process"));
  http.frames.onStop(organization, turn, () => received.push("same process"));
  http.frames.onStop(organization, newId(), () => received.push("another turn"));
  http.frames.requestStop(organization, turn);
  await until(() => received.length === 2);
  expect(received.sort()).toEqual(["other process", "same process"]);
  leave();
  http.frames.requestStop(organization, turn);
  await until(() => received.length === 3);
  expect(received).toEqual(["other process", "same process", "same process"]);
});
