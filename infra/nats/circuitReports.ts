import { setTimeout as sleep } from "node:timers/promises";
import type { CircuitReports, TargetCircuit } from "#events/circuits.ts";
import { newId } from "#events/ids.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";

/** How long answers are collected, because the number of processes is unknown. */
const PATIENCE_MS = 300;

interface Question {
  id: string;
  organization: string;
}
interface Answer {
  id: string;
  process: string;
  circuits: TargetCircuit[];
}

/** Uses core NATS, like hints: a process that does not answer in time is left out. */
export const createCircuitReports = ({ pubSub }: Connection, { hint }: Names): CircuitReports => ({
  answer: (process, list) =>
    pubSub.subscribe(hint.circuitsAsked, ({ id, organization }: Question) => {
      const answer: Answer = { id, process, circuits: list(organization) };
      pubSub.publish(hint.circuits(id), answer);
    }),
  async ask(organization) {
    const id = newId();
    const answers: Answer[] = [];
    const unsubscribe = pubSub.subscribe(hint.circuits(id), (answer: Answer) => void answers.push(answer));
    const question: Question = { id, organization };
    pubSub.publish(hint.circuitsAsked, question);
    await sleep(PATIENCE_MS);
    unsubscribe();
    return answers.map(({ process, circuits }) => ({ process, circuits }));
  },
});
