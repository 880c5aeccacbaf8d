import { expect, test } from "vitest";
import { createAttachments } from "./attachments.ts";

const chosen = (...names: string[]): File[] => names.map((name) => new File(["x"], name));

/** Attachments whose uploads end when the test says so, in any order. */
function open(max: number) {
  const waiting = new Map<string, (error?: Error) => void>();
  const attachments = createAttachments(
    max,
    ({ name }) =>
      new Promise((resolve, reject) => {
        const stored = { id: name, filename: name, mime_type: "text/plain", bytes: 1 };
        waiting.set(name, (error) => (error ? reject(error) : resolve(stored)));
      }),
  );
  const end = async (name: string, error?: Error): Promise<void> => {
    waiting.get(name)?.(error);
    await new Promise((resolve) => setTimeout(resolve));
  };
  const names = (): string[] => attachments.read().files.map(({ filename }) => filename);
  /** Resolves with the reason why not all are attached. */
  const add = (...files: string[]): Promise<string | undefined> =>
    attachments.add(chosen(...files)).then(
      () => undefined,
      (error: unknown) => String(error),
    );
  return { attachments, add, end, names };
}

test("choices that overlap share the room, and each keeps its files and its failures", async () => {
  const { attachments, add, end, names } = open(3);
  const adding = [add("a", "b"), add("c", "d")];
  expect(attachments.read().uploading).toBe(3);
  await end("c");
  expect(names()).toEqual(["c"]);
  expect(attachments.read()).toMatchObject({
    uploading: 2,
    missing: ["d"],
    error: { message: "3 files are attached at most." },
  });
  await end("b", new Error("Too large."));
  await end("a");
  expect(await Promise.all(adding)).toEqual(["Error: Too large.", "Error: 3 files are attached at most."]);
  expect(names()).toEqual(["c", "a"]);
  expect(attachments.read()).toMatchObject({ uploading: 0, missing: ["d", "b"], error: { message: "Too large." } });
  const next = add("e");
  expect(attachments.read()).toMatchObject({ uploading: 1, missing: [], error: null });
  await end("e");
  expect(await next).toBeUndefined();
  expect(names()).toEqual(["c", "a", "e"]);
});

test("files that were attached while others were sent stay", async () => {
  const { attachments, add, end, names } = open(3);
  const first = add("a");
  await end("a");
  const sent = attachments.read().files;
  const second = add("b");
  await end("b");
  await Promise.all([first, second]);
  attachments.remove(sent.map(({ id }) => id));
  expect(names()).toEqual(["b"]);
});
