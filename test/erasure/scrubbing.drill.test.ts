import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { runScrubbing, scrub, scrubIfDue, type ScrubOptions } from "#infra/postgres/scrub.ts";
import { files } from "#projections/files/project.ts";
import { keys } from "#projections/keys/project.ts";
import { FileDeleted } from "#events/file.ts";
import { fileUploaded, fixture, message, turnCompleted, turnStarted, type Fixture } from "../projections/fixture.ts";

/* When deleted content is overwritten: every few days, if something was deleted. */

async function open() {
  const f = await fixture();
  await f.runner().start();
  let cleared = 0;
  const options: ScrubOptions = {
    ...f,
    projections: [files, keys],
    types: ["FileDeleted"],
    days: 7,
    clearFrames: async () => void cleared++,
  };
  const builds = async () => {
    const sql = "select sum(build)::integer as n from log.checkpoints where name in ('files', 'keys')";
    return (await f.db.query<{ n: number }>(sql))[0]!.n;
  };
  /** The hourly check. */
  async function check() {
    const before = await builds();
    const scrubbed = await scrubIfDue(options, new AbortController().signal);
    return { scrubbed, built: (await builds()) - before, cleared };
  }
  const last = async () => (await f.db.query<{ position: number; at: Date }>("select position, at from ops.scrubs"))[0];
  const later = () => f.db.query("update ops.scrubs set at = at - interval '8 days'");
  return { f, options, check, last, later, cleared: () => cleared };
}

async function deleteFile(f: Fixture): Promise<number> {
  const id = newId();
  const stream = streamName("file", id);
  await f.append(stream, [fileUploaded(id, "a.txt")]);
  return f.append(stream, [FileDeleted.of({ file_id: id })], { things: [stream] });
}

test("scrubbing is due after some days if anything was deleted since the last scrub", async () => {
  const { f, check, last, later } = await open();
  await deleteFile(f);
  expect(await check()).toEqual({ scrubbed: false, built: 0, cleared: 0 });
  await later();
  expect(await check()).toEqual({ scrubbed: false, built: 0, cleared: 0 });
  const deleted = await deleteFile(f);
  const { at } = (await last())!;
  expect(await check()).toEqual({ scrubbed: true, built: 2, cleared: 1 });
  expect(await last()).toMatchObject({ position: deleted });
  expect((await last())!.at.getTime()).toBeGreaterThan(at.getTime());
  await deleteFile(f);
  expect(await check()).toEqual({ scrubbed: false, built: 0, cleared: 1 });
});

test("scrubbing clears the frames once no turn is running", async () => {
  const { f, options, cleared } = await open();
  const [thread, turn] = [streamName("thread", newId()), newId()];
  await f.append(thread, [turnStarted(turn, [message("x")])]);
  await f.pool.query("update log.streams set status = 'running' where stream = $1", [thread]);
  const scrubbing = scrub({ ...options, projections: [] }, new AbortController().signal);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(cleared()).toBe(0);
  await f.append(thread, [turnCompleted(turn, "y")]);
  await scrubbing;
  expect(cleared()).toBe(1);
});

test("scrubbing stops on abort, during a scrub and between two checks", async () => {
  const { f, options } = await open();
  await f.append(streamName("thread", newId()), [turnStarted(newId(), [message("x")])]);
  await f.pool.query("update log.streams set status = 'running'");
  const stop = new AbortController();
  const scrubbing = scrub({ ...options, projections: [] }, stop.signal);
  const schedule = runScrubbing(options, stop.signal);
  setTimeout(() => stop.abort(), 200);
  await expect(scrubbing).rejects.toThrow(/abort/i);
  await schedule;
});
