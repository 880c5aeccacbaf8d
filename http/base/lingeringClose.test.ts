import { EventEmitter } from "node:events";
import type { FastifyRequest } from "fastify";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { lingerOnClose } from "./lingeringClose.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A refused request that is answered while its body may still arrive. */
function answered() {
  const socket = Object.assign(new EventEmitter(), { end: vi.fn(), destroy: vi.fn(), destroySoon: () => {} });
  const raw = Object.assign(new EventEmitter(), { socket, resume: vi.fn() });
  lingerOnClose({ raw } as unknown as FastifyRequest);
  socket.destroySoon();
  return { ended: socket.end, destroyed: socket.destroy, arrives: () => raw.emit("data", Buffer.alloc(1)) };
}

test("a refused connection stays open until the rest of the body has arrived, and three seconds longer", () => {
  const { ended, destroyed, arrives } = answered();
  for (let second = 0; second < 20; second++) {
    arrives();
    vi.advanceTimersByTime(1_000);
  }
  expect(ended).toHaveBeenCalledOnce();
  expect(destroyed).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2_000);
  expect(destroyed).toHaveBeenCalled();
});

test("a refused connection is closed after thirty seconds even if data still arrives", () => {
  const { destroyed, arrives } = answered();
  for (let second = 0; second < 30; second++) {
    expect(destroyed).not.toHaveBeenCalled();
    arrives();
    vi.advanceTimersByTime(1_000);
  }
  expect(destroyed).toHaveBeenCalled();
});
