import { randomFrom } from "../../dev/crash/random.ts";
import { createBus } from "./bus.ts";
import { createClient } from "./client.ts";
import { createDatabase, type Flaws } from "./database.ts";
import { findingsIn } from "./findings.ts";
import { startFollower } from "./follower.ts";
import { startNode, type Deployment } from "./node.ts";
import { FAULTS_MS, type PlannedFault, type Plan } from "./plan.ts";
import { enterTime, settled } from "./time.ts";
import { createWorld, QUIET, type Process, type World } from "./world.ts";

/** After this time an open request counts as stuck, even if all requests are turns of one thread that use their full time. */
const STUCK_MS = FAULTS_MS + 240_000;
const RESTART_MS = 1_000;

export type PlantedFlaws = Flaws & Deployment["flaws"];

/** The result of a run. Equal plans have equal results, except for the names of things. */
export interface Result {
  findings: string[];
  trace: string[];
  /** Types of the events in the log. */
  story: string[];
  /** Its simulated duration. */
  ms: number;
}

/** Simulates a plan until no work is open, and checks the state. */
export async function simulate(plan: Plan, planted: PlantedFlaws = {}): Promise<Result> {
  const world = createWorld(randomFrom(plan.course), { ...plan.rates });
  const leave = enterTime(world);
  try {
    const database = createDatabase(world, planted);
    const bus = createBus(world);
    const { noRoom } = plan;
    const deployment: Deployment = { world, database, bus, flaws: planted, noRoom, asked: new Map() };
    const nodes = plan.skews.map((skew, n) => supervise(world, `node${n}`, skew, () => startNode(deployment, n === 0)));
    supervise(world, "follower0", 0, () => startFollower(deployment));
    supervise(world, "follower1", 0, () => startFollower(deployment));
    for (const fault of plan.faults) world.at(fault.at, undefined, () => injectFault(world, nodes[fault.node]!, fault));
    world.at(FAULTS_MS, undefined, () => Object.assign(world.rates, QUIET));

    const client = createClient(deployment);
    const seen = new Set<number>();
    let open = plan.requests.length;
    plan.requests.forEach((request, n) => {
      const fresh = request.want === "turn" && !seen.has(request.thread);
      if (fresh) seen.add(request.thread);
      void client.fulfil(request, n, fresh).then(() => open--);
    });

    const quiet = () =>
      open === 0 &&
      world.now() > FAULTS_MS &&
      [...database.tables.streams.values()].every(({ status }) => status === null) &&
      database.checkpoint.position >= database.tables.events.length;
    while (!quiet() && world.now() < STUCK_MS && world.step()) await settled();
    const unanswered = plan.requests.length - new Set(client.acknowledged.map(({ command_id }) => command_id)).size;
    const { acknowledged } = client;
    const findings = findingsIn({ database, acknowledged, unanswered, buried: bus.buried });
    return { findings, trace: world.trace, story: database.tables.events.map(({ type }) => type), ms: world.now() };
  } finally {
    leave();
  }
}

/** Starts a process, and another one a while after each crash. Returns the running one. */
function supervise(world: World, name: string, skew: number, start: () => void): { now: Process; downMs: number } {
  let starts = 0;
  const begin = (): Process => {
    const process = world.newProcess(`${name}.${++starts}`, skew);
    process.onCrash = () => {
      world.outside(self.downMs, () => (self.now = begin()));
      self.downMs = RESTART_MS;
    };
    world.at(world.now(), process, start);
    return process;
  };
  const self = { now: undefined as unknown as Process, downMs: RESTART_MS };
  self.now = begin();
  return self;
}

function injectFault(world: World, node: { now: Process; downMs: number }, { kind, ms }: PlannedFault): void {
  if (kind === "stall") {
    node.now.frozenUntil = Math.min(world.now() + ms, FAULTS_MS);
    world.trace.push(`${world.now()} ${node.now.name} stands still for ${ms} ms`);
  } else {
    node.downMs = ms;
    world.crash(node.now);
  }
}
