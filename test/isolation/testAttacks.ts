import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Attack } from "./attacks/attack.ts";
import type { Answer, Attacker } from "./attacker.ts";
import type { Experience } from "./bystander.ts";
import { findDelays, limitsBeside, MAX_CALLBACK_MS, PROMISE, QUIET_MS } from "./delays.ts";
import type { HeldCallback } from "./profile.ts";
import { openStage, type Layout, type Stage } from "./stage.ts";

const GIB = 1024 ** 3;
/** An attack that delays others is repeated: a real delay occurs each time, one that the machine caused does not. */
const TRIES = 3;
/** An attack that waits for its own slow answers is observed for at most this time. */
const MAX_ATTACK_MS = 60_000;
/** A shorter attack is repeated: with few turns, the slowest one would be the 99th percentile. */
const MIN_ATTACK_MS = Number(process.env["ATTACK_MS"] ?? 1_000);

/** The result of one attempt at an attack. */
interface Trial {
  experience: Experience;
  held: HeldCallback[];
  /** Undefined: the attacker still waited for its own answers. */
  answers: Answer[] | undefined;
}

/**
 * Declares a test for each attack, and the table of what another organization noticed. The attacks are in several files,
 * because CI runs a failed file again (ADR 34): then only few rows are measured again with one that the machine has spoilt.
 */
export function testAttacks(attacks: Attack[], layout?: Layout): void {
  let stage: Stage;
  const table: string[] = [];

  beforeAll(async () => {
    stage = await openStage(layout);
  });
  afterAll(() => console.log([HEAD, LINE, ...table].join("\n")));

  async function attackOnce(attack: Attack): Promise<Trial> {
    const { deployment, attacker, bystander } = stage;
    await deployment.watchLoop();
    const limit = new Promise<undefined>((resolve) => setTimeout(resolve, MAX_ATTACK_MS, undefined).unref());
    let answers: Answer[] | undefined;
    const experience = await bystander.watch(async () => {
      answers = await Promise.race([repeat(attack, attacker), limit]);
    });
    attacker.closeSockets();
    expect(deployment.ended()).toEqual([]);
    return { experience, held: await deployment.heldCallbacks(), answers };
  }

  test.each(attacks)("$title: another organization notices nothing", async (attack) => {
    const { attacker, bystander } = stage;
    await attack.prepare?.(attacker);
    for (let left = TRIES; left > 0; left--) {
      const trial = await attackOnce(attack);
      const { experience, held, answers } = trial;
      const isQuick = findDelays(experience, PROMISE).length === 0;
      const quiet = isQuick ? undefined : await bystander.watch(() => sleep(QUIET_MS));
      const statuses = answers ? countStatuses(answers.map(({ status }) => status)) : "slow for the attacker alone";
      table.push(row(attack.title, trial, quiet, statuses));

      expect(experience.failures).toEqual([]);
      expect(experience.memory).toBeLessThan(attack.maxMemory ?? GIB);
      expect(held.filter(({ own_ms }) => own_ms > MAX_CALLBACK_MS)).toEqual([]);
      const allowed = [503, ...(attack.mayAnswer ?? [])];
      expect(answers?.filter(({ status }) => status >= 500 && !allowed.includes(status)) ?? []).toEqual([]);
      for (const [status, count] of Object.entries(attack.mustAnswer ?? {}))
        expect(answers ? countOf(answers, Number(status)) : count, statuses).toBeGreaterThanOrEqual(count);
      const delays = quiet ? findDelays(experience, limitsBeside(quiet)) : [];
      if (delays.length === 0) return;
      if (left === 1) expect(delays).toEqual([]);
    }
  });
}

async function repeat({ run }: Attack, attacker: Attacker): Promise<Answer[]> {
  const end = performance.now() + MIN_ATTACK_MS;
  const answers: Answer[] = [];
  do answers.push(...(await run(attacker)));
  while (performance.now() < end);
  return answers;
}

const HEAD =
  "| Attack by one organization | Turns of another one | p50 | p99 | Slowest | p99 alone | Slowest search, upload, run | Longest callback | Memory of a process, highest | Answers to the attacker |";
const LINE = "|---|---|---|---|---|---|---|---|---|---|";

function row(title: string, { experience, held }: Trial, quiet: Experience | undefined, statuses: string): string {
  const { turns, p50_ms, p99_ms, slowest_ms, search_ms, upload_ms, run_ms, memory } = experience;
  const work = [search_ms, upload_ms, run_ms].map((ms) => ms ?? "none").join(", ");
  const longest = held[0]?.own_ms ?? "below 20";
  return `| ${title} | ${turns} | ${p50_ms} ms | ${p99_ms} ms | ${slowest_ms} ms | ${quiet ? `${quiet.p99_ms} ms` : ""} | ${work} ms | ${longest} ms | ${Math.round(memory / 1024 ** 2)} MiB | ${statuses} |`;
}

const countOf = (answers: Answer[], wanted: number): number => answers.filter(({ status }) => status === wanted).length;

function countStatuses(statuses: number[]): string {
  const counts = new Map<number, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} × ${status || "cut"}`).join(", ") || "none";
}
