import type { CommandResult, Command } from "#events/envelope.ts";
import {
  Unavailable,
  type Frame,
  type Frames,
  type Hints,
  type PublicEvent,
  type Reactions,
  type StopReason,
} from "#events/ports.ts";
import type { Process, World } from "./world.ts";

const ACK_WAIT_MS = 4_000;
const MAX_DELIVERIES = 5;
const RETRY_MS = 500;

interface Message {
  /** The message in transit; each receiver gets its own copy. */
  payload: string;
  /** Throws when the message must be redelivered. */
  take(consumer: Consumer, payload: string): Promise<void>;
  deliveries: number;
  settled: boolean;
}

/** A process that takes messages. */
export interface Consumer {
  process: Process;
  command(command: Command): Promise<CommandResult>;
  reaction(event: PublicEvent): Promise<void>;
}

export type Bus = ReturnType<typeof createBus>;

/** The bus. It delivers work at least once and in any order, and everything else at most once. */
export function createBus(world: World) {
  const { random, rates } = world;
  const consumers = new Set<Consumer>();
  const kept = new Map<string, Frame[]>();
  const stops = new Map<string, Set<{ process: Process | undefined; listener: (why: StopReason) => void }>>();
  const listeners = new Set<{ process: Process | undefined; listener: (position: number) => void }>();
  /** Messages that were given up, with the error of their last delivery. */
  const buried: unknown[] = [];

  const lossy = (effect: () => void) =>
    world.send(() => {
      const copies = random.chance(rates.drop) ? 0 : random.chance(rates.duplicate) ? 2 : 1;
      for (let n = 0; n < copies; n++) world.outside(world.transit(), effect);
    });

  /** Frames of one process arrive at most once, in the order in which they were sent. */
  const lastFrame = new Map<Process | undefined, number>();
  const inOrder = (effect: () => void) =>
    world.send(() => {
      if (random.chance(rates.drop)) return;
      const process = world.current();
      const at = Math.max(lastFrame.get(process) ?? 0, world.now() + world.transit());
      lastFrame.set(process, at);
      world.at(at, undefined, effect);
    });

  const later = (message: Message, ms: number) => world.outside(ms, () => deliver(message));
  function deliver(message: Message): void {
    if (message.settled) return;
    const alive = [...consumers].filter(({ process }) => process.alive);
    if (alive.length === 0) return void later(message, RETRY_MS);
    const consumer = random.pick(alive);
    message.deliveries++;
    let inHand = true;
    const take = async () => {
      try {
        await message.take(consumer, message.payload);
        lossy(() => (message.settled = true));
      } catch (error) {
        world.note(`gives a message back: ${String(error)}`);
        if (error instanceof Unavailable || message.deliveries < MAX_DELIVERIES) return lossy(() => deliver(message));
        message.settled = true;
        buried.push(error);
      } finally {
        inHand = false;
      }
    };
    world.at(world.now() + world.transit(), consumer.process, () => void take());
    const watch = () =>
      world.outside(ACK_WAIT_MS, () => {
        const { alive, frozenUntil } = consumer.process;
        if (inHand && alive && frozenUntil <= world.now() && !random.chance(rates.duplicate)) watch();
        else deliver(message);
      });
    watch();
  }
  const enqueue = (payload: unknown, take: Message["take"]) => {
    const message = { payload: JSON.stringify(payload), take, deliveries: 0, settled: false };
    deliver(message);
    if (random.chance(rates.duplicate)) later(message, random.int(1, 2 * ACK_WAIT_MS));
  };

  const frames: Frames = {
    publish: (_, turn, frame) => inOrder(() => kept.set(turn, [...(kept.get(turn) ?? []), frame])),
    sendToWaiter() {},
    subscribe: () => () => {},
    loadFrames: async (_, turn) => {
      await world.sleep(world.transit());
      return structuredClone(kept.get(turn) ?? []);
    },
    requestStop: (_, turn, why = "stopped") =>
      lossy(() => {
        for (const { process, listener } of stops.get(turn) ?? [])
          world.at(world.now() + 1, process, () => listener(why));
      }),
    onStop(_, turn, listener) {
      const entry = { process: world.current(), listener };
      const all = stops.get(turn) ?? new Set();
      stops.set(turn, all.add(entry));
      return () => void all.delete(entry);
    },
  };
  const hints: Pick<Hints, "announceCommitted" | "onCommitted"> = {
    announceCommitted: (position) =>
      lossy(() => {
        for (const { process, listener } of listeners) world.at(world.now(), process, () => listener(position));
      }),
    onCommitted(listener) {
      const entry = { process: world.current(), listener };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
  };
  const reactions: Pick<Reactions, "publish"> = {
    publish: (event) =>
      new Promise((resolve, reject) => {
        const process = world.current();
        world.send(() => {
          const stored = !random.chance(rates.drop);
          if (stored) enqueue(event, (consumer, payload) => consumer.reaction(JSON.parse(payload)));
          const heard = stored && !random.chance(rates.drop);
          world.at(world.now() + world.transit(), process, () => (heard ? resolve() : reject(new Unavailable("lost"))));
        });
      }),
  };

  return {
    frames,
    hints,
    reactions,
    buried,
    join(consumer: Consumer): void {
      consumers.add(consumer);
    },
    /** Publishes a command. `answered` gets the answer, and `stored` the confirmation of the bus; either may be lost. */
    publish(command: Command, answered: (answer: CommandResult) => void, stored: () => void): void {
      const process = world.current();
      const tell = (effect: () => void) => lossy(() => world.at(world.now(), process, effect));
      lossy(() => {
        enqueue(command, async (consumer, payload) => {
          const taken = JSON.parse(payload) as Command;
          if (Date.parse(taken.deadline) < Date.now()) return;
          const answer = structuredClone(await consumer.command(taken));
          tell(() => answered(answer));
        });
        tell(stored);
      });
    },
  };
}
