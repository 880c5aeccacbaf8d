import { expect, test } from "vitest";
import type { CommandResult } from "#events/envelope.ts";
import type { StreamHead } from "#events/ports.ts";
import { createBatchDeleter } from "./deleteInBatches.ts";

test("an organization deletes sixteen batches at a time, and others do not wait for it", async () => {
  const open = new Map<string, () => void>();
  const errors: unknown[] = [];
  const deleter = createBatchDeleter({
    open: ({ stream }) => ({
      async deleteSome() {
        await new Promise<void>((resolve) => open.set(stream, resolve));
        return [];
      },
      complete: async () => void open.delete(stream),
    }),
    onError: (error) => void errors.push(error),
  });
  const remove = (organization_id: string, n: number) =>
    deleter.resumeWork({ stream: `${organization_id}-${n}`, organization_id, position: 1 } as StreamHead);
  const openOf = (organization: string) => [...open.keys()].filter((stream) => stream.startsWith(organization));
  for (let n = 0; n < 40; n++) await remove("a", n);
  await remove("a", 0);
  await remove("b", 0);
  await expect.poll(() => openOf("b")).toEqual(["b-0"]);
  await expect.poll(() => openOf("a").length).toBe(16);
  open.get("a-0")!();
  await expect.poll(() => openOf("a")).toContain("a-16");
  expect(openOf("a")).toHaveLength(16);

  const stopped = deleter.stop();
  for (const end of open.values()) end();
  await stopped;
  expect(errors).toEqual([]);
  expect(open.has("a-39")).toBe(false);
});

test("a deletion does not wait until the long ones of two other organizations have ended", async () => {
  const completed: string[] = [];
  const deleter = createBatchDeleter({
    open: ({ organization_id, stream }) => ({
      deleteSome: async () => (organization_id === "c" ? [] : [{ position: 1 } as CommandResult]),
      complete: async () => completed.push(stream),
    }),
    onError: (error) => expect.fail(String(error)),
  });
  const remove = (organization_id: string, n: number) =>
    deleter.resumeWork({ stream: `${organization_id}-${n}`, organization_id, position: 1 } as StreamHead);
  for (let n = 0; n < 16; n++) await Promise.all([remove("a", n), remove("b", n)]);
  await remove("c", 0);
  await expect.poll(() => completed).toEqual(["c-0"]);
  await deleter.stop();
});
