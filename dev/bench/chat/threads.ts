import { progress } from "../tools/progress.ts";
import { median } from "../tools/stats.ts";
import { ask, connect, expectedAnswer, type Target } from "./askQuestion.ts";

const TURNS = [1, 100, 500];
/** The figure of a turn is the median of this many turns ending with it. */
const WINDOW = 20;

interface TurnCost {
  turn: number;
  service: number;
  /** The same history, sent directly to the provider. */
  direct: number;
}

/** How long the first turn of a thread takes, in milliseconds. */
export const measureFirstTurns = async (service: Target, direct: Target): Promise<TurnCost> => {
  const clients = { service: connect(service), direct: connect(direct) };
  const costs = { service: [] as number[], direct: [] as number[] };
  for (let n = 0; n < WINDOW; n++) {
    const question = { text: `first ${n}`, stream: false };
    costs.service.push((await ask(service, clients.service, question)).total);
    costs.direct.push((await ask(direct, clients.direct, question)).total);
  }
  await Promise.all([clients.service.close(), clients.direct.close()]);
  return { turn: 1, service: median(costs.service), direct: median(costs.direct) };
};

/** How long a turn takes as its thread grows, compared with the provider itself and the same history. */
export const measureGrowingThread = async (service: Target, direct: Target): Promise<TurnCost[]> => {
  const costs = [await measureFirstTurns(service, direct)];
  const clients = { service: connect(service), direct: connect(direct) };
  const history: { role: string; content: string }[] = [];
  let thread: string | undefined;
  let window = { service: [] as number[], direct: [] as number[] };
  for (let turn = 1; turn <= Math.max(...TURNS); turn++) {
    if (turn % 50 === 0) progress(`turn ${turn} of one thread`);
    const question = { text: `turn ${turn}`, stream: false };
    const answer = await ask(service, clients.service, thread ? { ...question, thread } : question);
    thread = answer.thread;
    const last = TURNS.find((at) => turn > at - WINDOW && turn <= at && at > 1);
    if (last !== undefined) {
      window.service.push(answer.total);
      window.direct.push((await ask(direct, clients.direct, { ...question, history })).total);
      if (turn === last) {
        costs.push({ turn, service: median(window.service), direct: median(window.direct) });
        window = { service: [], direct: [] };
      }
    }
    history.push(
      { role: "user", content: question.text },
      { role: "assistant", content: expectedAnswer(question.text) },
    );
  }
  await Promise.all([clients.service.close(), clients.direct.close()]);
  return costs;
};
