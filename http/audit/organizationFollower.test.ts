import { expect, test } from "vitest";
import type { AuditedEvent } from "#events/auditLog.ts";
import { createOrganizationFollowers } from "./organizationFollower.ts";

const soon = { timeout: 60_000, interval: 10 };

/** A log of one organization, whose reads are counted. */
function createLog() {
  const events: AuditedEvent[] = [];
  const listeners = new Set<(position: number) => void>();
  let reads = 0;
  return {
    reads: () => reads,
    commit(count: number, data = {}): void {
      for (let n = 0; n < count; n++) events.push({ position: events.length + 1, data } as AuditedEvent);
      for (const listener of listeners) listener(events.length);
    },
    needs: {
      log: { newestPosition: async () => events.length } as never,
      onCommitted(listener: (position: number) => void) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      async readAuditSlice(_organization: string, { after, limit }: { after: number; limit: number }) {
        reads += 1;
        const found = events.filter(({ position }) => position > after);
        return { events: found.slice(0, limit), more: found.length > limit };
      },
    },
  };
}

test("a hundred readers of one organization share the reads of one follower, which ends with the last of them", async () => {
  const log = createLog();
  const find = createOrganizationFollowers(log.needs);
  const signal = new AbortController().signal;
  const followers = await Promise.all(Array.from({ length: 100 }, () => find("o1")));
  const inboxes = followers.map((follower) => follower.openInbox());
  log.commit(3);
  const received = await Promise.all(inboxes.map((inbox) => inbox.next(signal)));
  expect(received.map((events) => events?.map(({ position }) => position))).toEqual(Array(100).fill([1, 2, 3]));
  expect(log.reads()).toBeLessThan(10);

  for (const follower of followers) follower.release();
  const before = log.reads();
  log.commit(1);
  const next = await find("o1");
  await expect.poll(() => log.reads() - before, soon).toBeGreaterThan(0);
  expect(log.reads() - before).toBeLessThan(5);
  next.release();
});

test("a reader that does not read falls behind, and the others continue", async () => {
  const log = createLog();
  const follower = await createOrganizationFollowers(log.needs)("o1");
  const [slow, quick] = [follower.openInbox(), follower.openInbox()];
  const signal = new AbortController().signal;
  let received = 0;
  log.commit(2_000);
  while (received < 2_000) received += (await quick.next(signal))!.length;
  expect(follower.position()).toBe(2_000);
  expect(await slow.next(signal)).toBeUndefined();
  follower.release();
});

test("a reader also falls behind by few events that are large together", async () => {
  const log = createLog();
  const follower = await createOrganizationFollowers(log.needs)("o1");
  const inbox = follower.openInbox();
  log.commit(50, { text: "x".repeat(100_000) });
  await expect.poll(() => follower.position(), soon).toBe(50);
  expect(await inbox.next(new AbortController().signal)).toBeUndefined();
  follower.release();
});
