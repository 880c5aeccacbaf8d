import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Attack } from "./attacks/attack.ts";
import { openAttacker, type Answer, type Attacker } from "./attacker.ts";
import { startBystander, type Bystander, type Experience } from "./bystander.ts";
import { startDeployment, type IsolatedDeployment } from "./deployment.ts";

const GIB = 1024 ** 3;
/** The goal is 500 ms on a quiet machine; the table shows the figures. This limit says that nobody is held up, on a busy one too. */
const MAX_P99_MS = 5_000;
/** Processor time of one callback of the service's event loop, without the garbage collector's and the kernel's. */
const MAX_CALLBACK_MS = 50;
/** An attack that waits for its own slow answers is watched for this long at most. */
const MAX_ATTACK_MS = 60_000;
/** An attack that is over sooner is made again: of a few turns, the slowest would be the 99th percentile. */
const MIN_ATTACK_MS = Number(process.env["ATTACK_MS"] ?? 1_000);

/**
 * Declares a test for each attack, and the table of what another organization noticed. The attacks stand in several files,
 * because CI runs a failed file again (ADR 34): a row that the machine has spoilt is then measured beside few others.
 */
export function testAttacks(attacks: Attack[]): void {
  let deployment: IsolatedDeployment;
  let attacker: Attacker;
  let bystander: Bystander;
  const table: string[] = [];

  beforeAll(async () => {
    deployment = await startDeployment({
      SCHEDULE_SECONDS: "1",
      PRIVATE_PROVIDER_HOSTS: "127.0.0.1",
      PRIVATE_FETCH_HOSTS: "127.0.0.1",
    });
    attacker = await openAttacker(deployment, await deployment.organization("Attacker"));
    bystander = startBystander(deployment, await deployment.organization("Bystander"));
  });
  afterAll(() =>
    console.log(
      [
        "| Attack | turns | p50 | p99 | slowest | longest callback | memory | answers |",
        "|---|---|---|---|---|---|---|---|",
        ...table,
      ].join("\n"),
    ),
  );

  test("a callback that computes for 60 ms is named, whatever else the machine does", async () => {
    await deployment.watchLoop();
    deployment.hold(MAX_CALLBACK_MS + 10);
    await bystander.watch(sleep(200));
    const [longest] = await deployment.heldCallbacks();
    expect(longest?.kind).toBe("Immediate");
    expect(longest!.places.join()).toContain("hold test/isolation/loopMonitor.ts");
    expect(longest!.own_ms).toBeGreaterThanOrEqual(MAX_CALLBACK_MS);
  });

  test.each(attacks)("$title: another organization notices nothing", async (attack) => {
    await attack.prepare?.(attacker);
    await deployment.watchLoop();
    const limit = new Promise<"slow">((resolve) => setTimeout(resolve, MAX_ATTACK_MS, "slow").unref());
    const running = repeat(attack, attacker);
    const experience = await bystander.watch(Promise.race([running, limit]));
    const outcome = await Promise.race([running, limit]);
    attacker.closeSockets();
    const held = await deployment.heldCallbacks();
    const statuses =
      outcome === "slow" ? "slow for the attacker alone" : countStatuses(outcome.map(({ status }) => status));
    table.push(row(attack.title, experience, held[0]?.own_ms, statuses));

    expect(deployment.isAlive()).toBe(true);
    expect(experience.failures).toEqual([]);
    expect(experience.p99_ms).toBeLessThan(MAX_P99_MS);
    expect(experience.memory).toBeLessThan(GIB);
    expect(held.filter(({ own_ms }) => own_ms > MAX_CALLBACK_MS)).toEqual([]);
    const allowed = [503, ...(attack.mayAnswer ?? [])];
    if (outcome !== "slow")
      expect(outcome.filter(({ status }) => status >= 500 && !allowed.includes(status))).toEqual([]);
    for (const [status, count] of Object.entries(attack.mustAnswer ?? {}))
      expect(outcome === "slow" ? count : countOf(outcome, Number(status)), statuses).toBeGreaterThanOrEqual(count);
  });
}

async function repeat({ run }: Attack, attacker: Attacker): Promise<Answer[]> {
  const end = performance.now() + MIN_ATTACK_MS;
  const answers: Answer[] = [];
  do answers.push(...(await run(attacker)));
  while (performance.now() < end);
  return answers;
}

const row = (
  title: string,
  { turns, p50_ms, p99_ms, slowest_ms, memory }: Experience,
  longest: number | undefined,
  statuses: string,
): string =>
  `| ${title} | ${turns} | ${p50_ms} ms | ${p99_ms} ms | ${slowest_ms} ms | ${longest === undefined ? "below 20" : longest} ms | ${Math.round(memory / 1024 ** 2)} MiB | ${statuses} |`;

const countOf = (answers: Answer[], wanted: number): number => answers.filter(({ status }) => status === wanted).length;

function countStatuses(statuses: number[]): string {
  const counts = new Map<number, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} × ${status || "cut"}`).join(", ") || "none";
}
