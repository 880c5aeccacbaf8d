import { expect, test } from "vitest";
import { newCommand, type Command, type CommandResult } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import type { Gate } from "#events/ports.ts";
import { preferLocal } from "./localCommands.ts";

const command = (data: object = {}): Command =>
  newCommand("Test", {
    stream: streamName("thread", newId()),
    organization_id: newId(),
    request_id: "request",
    timeout_ms: 1_000,
    data,
  });
const here: CommandResult = { position: 1, repeated: false };
const there: CommandResult = { position: 2, repeated: false };

function createGate(): Gate & { set(isOpen: boolean): void } {
  const listeners = new Set<(isOpen: boolean) => void>();
  let isOpen = true;
  return {
    isOpen: () => isOpen,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(value) {
      isOpen = value;
      for (const listener of listeners) listener(value);
    },
  };
}

function createBus() {
  const sent: Command[] = [];
  const send = async (given: Command) => {
    sent.push(given);
    return there;
  };
  return { sent, send };
}

test("a command is handled here, and gets what another process would get", async () => {
  const [bus, gate] = [createBus(), createGate()];
  const handled: Command[] = [];
  const handle = async (given: Command) => {
    handled.push(given);
    return here;
  };
  const given = command({ text: "x", left: undefined });
  expect(await preferLocal({ handle, gate }, bus).send(given)).toBe(here);
  expect(handled).toEqual([JSON.parse(JSON.stringify(given))]);
  expect(Object.keys(handled[0]!.data)).toEqual(["text"]);
  expect(bus.sent).toEqual([]);
});

test("a command whose handler fails goes through the bus, under its id", async () => {
  const [bus, gate] = [createBus(), createGate()];
  const handle = async () => {
    throw new Error("broken");
  };
  const given = command();
  expect(await preferLocal({ handle, gate }, bus).send(given)).toBe(there);
  expect(bus.sent).toEqual([given]);
});

test("a process that may take no commands sends them to others, also those in progress", async () => {
  const [bus, gate] = [createBus(), createGate()];
  const handle = () => new Promise<CommandResult>(() => {});
  const sender = preferLocal({ handle, gate }, bus);
  const sent = sender.send(command());
  await Promise.resolve();
  gate.set(false);
  expect(await sent).toBe(there);
  expect(await sender.send(command())).toBe(there);
  expect(bus.sent).toHaveLength(2);
});

test("a command that is too long for the bus, or too much for this process, is left to the bus", async () => {
  const [bus, gate] = [createBus(), createGate()];
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  const sender = preferLocal({ handle: () => promise, gate }, bus);
  expect(await sender.send(command({ text: "x".repeat(200_000) }))).toBe(there);
  const held = Array.from({ length: 1_000 }, () => sender.send(command()));
  expect(await sender.send(command())).toBe(there);
  resolve(here);
  expect(new Set(await Promise.all(held))).toEqual(new Set([here]));
  expect(bus.sent).toHaveLength(2);
});
