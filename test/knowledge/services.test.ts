import { expect, test } from "vitest";
import { startPlatform } from "../platform.ts";
import { knowledgeOf, searchServer, typesOf } from "./documents.ts";

const READY = ["DocumentUploaded", "ReadingStarted", "DocumentRead", "DocumentIndexed"];

test("a document is read, put into the index and ready", async () => {
  const { opened } = await startPlatform();
  const { upload } = knowledgeOf(opened);
  const { document_id, stream } = await upload("# Guide\n\nThe heron waits.\n");
  await expect.poll(() => typesOf(opened, stream)).toEqual(READY);
  expect(await searchServer(opened).passages()).toEqual([`${document_id}_1_0`]);
});
