import { progress } from "../tools/progress.ts";
import { median } from "../tools/stats.ts";
import { ask, connect, rightAnswer, type Target } from "./target.ts";

const TURNS = [1, 100, 500];
/** A turn's figure is the median of this many. */
const WINDOW = 20;

interface TurnCost {
  turn: number;
  service: number;
  /** The provider asked directly with the same history. */
  direct: number;
}

/** What the first turn of a thread costs, in milliseconds. */
export const firstTurns = async (service: Target, direct: Target): Promise<TurnCost> => {
  const clients = { service: connect(service), direct: connect(direct) };
  const costs = { service: [] as number[], direct: [] as number[] };
  for (let n = 0; n < WINDOW; n++) {
    const question = { text: `first ${n}`, stream: false };
    costs.service.push((await ask(service, clients.service, question)).whole);
    costs.direct.push((await ask(direct, clients.direct, question)).whole);
  }
  await Promise.all([clients.service.close(), clients.direct.close()]);
  return { turn: 1, service: median(costs.service), direct: median(costs.direct) };
};

/** What a turn costs as its thread grows, beside the provider asked directly with the same history. */
export const growingThread = async (service: Target, direct: Target): Promise<TurnCost[]> => {
  const costs = [await firstTurns(service, direct)];
  const clients = { service: connect(service), direct: connect(direct) };
  const history: { role: string; content: string }[] = [];
  let thread: string | undefined;
  let window = { service: [] as number[], direct: [] as number[] };
  for (let turn = 1; turn <= Math.max(...TURNS); turn++) {
    if (turn % 50 === 0) progress(`turn ${turn} of one thread`);
    const question = { text: `turn ${turn}`, stream: false };
    const asked = await ask(service, clients.service, thread ? { ...question, thread } : question);
    thread = asked.thread;
    const last = TURNS.find((at) => turn > at - WINDOW && turn <= at && at > 1);
    if (last !== undefined) {
      window.service.push(asked.whole);
      window.direct.push((await ask(direct, clients.direct, { ...question, history })).whole);
      if (turn === last) {
        costs.push({ turn, service: median(window.service), direct: median(window.direct) });
        window = { service: [], direct: [] };
      }
    }
    history.push({ role: "user", content: question.text }, { role: "assistant", content: rightAnswer(question.text) });
  }
  await Promise.all([clients.service.close(), clients.direct.close()]);
  return costs;
};
