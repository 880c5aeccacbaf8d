import type { JetStreamManager } from "@nats-io/jetstream";
import { expect, test } from "vitest";
import type { Connection } from "./connection.ts";
import { createHealer } from "./healing.ts";
import { namesFor } from "./names.ts";

/* The state of an older server after a power cut (2.9, but not 2.15): its consumer remembers more than its stream holds. */

const names = namesFor("healed");
const config = { durable_name: "commands", ack_policy: "explicit" };

/** A server with one consumer of the commands, whose delivered sequence rises with each look. */
function openServer(delivered: (look: number) => number) {
  const calls: string[] = [];
  const reports: unknown[] = [];
  let looks = 0;
  const stateOf = (sequence: number) => ({ stream_seq: sequence, consumer_seq: sequence });
  const consumerOf = (sequence: number) => ({
    stream_name: names.streams.commands,
    name: "commands",
    config,
    delivered: stateOf(sequence),
    ack_floor: stateOf(sequence),
    num_pending: 0,
    num_waiting: 0,
    num_ack_pending: 0,
  });
  const jsm = {
    consumers: {
      async *list(stream: string) {
        if (stream === names.streams.commands) yield consumerOf(delivered(++looks));
      },
      delete: async (stream: string, name: string) => void calls.push(`delete ${stream} ${name}`),
      add: async (stream: string, added: object) => void calls.push(`add ${stream} ${JSON.stringify(added)}`),
    },
    streams: {
      info: async () => ({ config: { retention: "workqueue" }, state: { last_seq: 12, first_seq: 13, messages: 0 } }),
    },
  } as unknown as JetStreamManager;
  const connection = {
    isConnected: () => true,
    during: (work: Promise<unknown>) => work,
    log: { error: () => {}, warn: () => {} },
    nc: { isClosed: () => false, isDraining: () => false },
    pubSub: { subscribe: () => {}, publish: (subject: string) => void reports.push(subject) },
  } as unknown as Connection;
  return { calls, reports, heal: () => createHealer(connection, jsm, names).heal() };
}

test("a consumer whose position is beyond its stream's last message is recreated from the stream's first message", async () => {
  const { calls, reports, heal } = openServer(() => 447);
  await heal();
  expect(calls).toEqual([
    `delete ${names.streams.commands} commands`,
    `add ${names.streams.commands} ${JSON.stringify({ ...config, deliver_policy: "all" })}`,
  ]);
  expect(reports).toHaveLength(1);
});

test("a consumer that is ahead in a single check is left unchanged", async () => {
  const { calls, heal } = openServer((look) => (look === 1 ? 13 : 12));
  await heal();
  expect(calls).toEqual([]);
});
