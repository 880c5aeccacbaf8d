import { expect, test } from "vitest";
import { blobFolder } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import { removeIfErased } from "./removeIfErased.ts";

const target = { stream: "document-1", organization_id: "o" };

/** Looks a key up: each entry is an answer, an error is thrown. */
async function removedAfter(...answers: (string | undefined | Error)[]): Promise<string[]> {
  const removed: string[] = [];
  const findKey = async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  await removeIfErased(
    { vault: { findKey }, blobs: { removeAll: async (folder) => void removed.push(folder) } },
    target,
  );
  return removed;
}

test("the texts of an erased document are removed", async () => {
  expect(await removedAfter(undefined)).toEqual([blobFolder("o", "document-1")]);
});

test("the texts of a document that exists stay, because an event may refer to them", async () => {
  expect(await removedAfter("key")).toEqual([]);
});

test("a log that does not answer is asked again", async () => {
  expect(await removedAfter(new Unavailable("starting up"), undefined)).toEqual([blobFolder("o", "document-1")]);
});
