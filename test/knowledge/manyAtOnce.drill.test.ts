import { expect, test } from "vitest";
import { SOON } from "../soon.ts";
import { eventTypes } from "./documents.ts";
import { followerBench } from "./follower.ts";

const DOCUMENTS = 60;

test("documents that wait for the index together are added in one change, and confirmed in few commits", async () => {
  const changes: number[] = [];
  const { opened, index, read, follow, stop } = await followerBench((real) => ({
    index: {
      ...real,
      async put(uid, passages) {
        const queued = await real.put(uid, passages);
        changes.push(...queued);
        return queued;
      },
    },
  }));
  const documents = await Promise.all(Array.from({ length: DOCUMENTS }, (_, n) => read(`The text of document ${n}.`)));
  const following = follow();
  for (const { stream } of documents)
    await expect.poll(async () => (await eventTypes(opened, stream)).at(-1), SOON).toBe("DocumentIndexed");
  stop();
  await following;
  expect(await index.passages()).toHaveLength(DOCUMENTS);
  expect(changes).toHaveLength(1);
  const { rows } = await opened.pool.query(
    "select count(distinct xmin::text)::integer as commits from log.events where type = 'DocumentIndexed' and stream = any ($1)",
    [documents.map(({ stream }) => stream)],
  );
  // one commit takes 64 commands, and the first leaves with what has arrived until then
  expect(rows[0].commits).toBeLessThanOrEqual(4);
});
