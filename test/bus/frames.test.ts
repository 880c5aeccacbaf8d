import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import type { Frame } from "#events/ports.ts";
import { testBus } from "#test/harness.ts";
import { aBus, aCommand, done, noOutcomes, until, working } from "./bus.ts";

const server = testBus();
const frame = (n: number): Frame => ({ attempt: 1, n, type: "text", text: `word ${n} \u0000` });

test("frames arrive live and in order, and are kept for those who come later", async () => {
  const [http, services, late] = await Promise.all([aBus(server), aBus(server), aBus(server)]);
  const [organization, turn] = [newId(), newId()];
  await working(services, async () => {
    for (let n = 0; n < 2500; n += 1) services.frames.publish(organization, turn, frame(n));
    services.frames.publish(organization, newId(), frame(0));
    return done();
  });
  const live: Frame[] = [];
  const leave = http.frames.subscribe(organization, turn, (given) => live.push(given));
  await http.sender(noOutcomes).send(aCommand());
  await until(() => live.length >= 2500);
  const all = Array.from({ length: 2500 }, (_, n) => frame(n));
  expect(live).toEqual(all);
  expect(await late.frames.kept(organization, turn)).toEqual(all);
  expect(await late.frames.kept(newId(), turn)).toEqual([]);

  leave();
  services.frames.publish(organization, turn, frame(2500));
  await until(async () => (await late.frames.kept(organization, turn)).length === 2501);
  expect(live).toHaveLength(2500);
});

test("a stop reaches the turn's worker, in this process and in another, and nobody else", async () => {
  const [http, services] = await Promise.all([aBus(server), aBus(server)]);
  const [organization, turn] = [newId(), newId()];
  const heard: string[] = [];
  const leave = services.frames.onStop(organization, turn, () => heard.push("other process"));
  http.frames.onStop(organization, turn, () => heard.push("same process"));
  http.frames.onStop(organization, newId(), () => heard.push("another turn"));
  http.frames.stop(organization, turn);
  await until(() => heard.length === 2);
  expect(heard.sort()).toEqual(["other process", "same process"]);
  leave();
  http.frames.stop(organization, turn);
  await until(() => heard.length === 3);
  expect(heard).toEqual(["other process", "same process", "same process"]);
});
