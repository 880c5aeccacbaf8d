import { openInspector } from "../bus/streams.ts";
import { countEvents } from "../countEvents.ts";
import { startProcess } from "../faults/processes.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { agentClient, makeTool, signIn, TOOL } from "./agents.ts";

/** A deployment of several processes, with an agent that has a scripted tool. `env`: settings of all processes. */
export async function startProcesses(env: Record<string, string> = {}) {
  const deployment = await testDeployment();
  const home = await startPlatform({ roles: ["http", "projections"], deployment, env });
  const worker = await startProcess("services", deployment, env);
  const { api_key, admin } = await home.organization();
  const person = await signIn(home.url, admin);
  await makeTool(person);
  const { body } = await person.call("POST", "/agents", { name: "A", model: "offline/scripted", tools: [TOOL] });
  return {
    deployment,
    home,
    api_key,
    person,
    /** The first services process. */
    worker,
    start: (role: "http" | "services") => startProcess(role, deployment, env),
    /** A client of the agent, at one http process. */
    at: (url = home.url, agent_id: string = body.id) => agentClient(url, api_key, agent_id),
    count: (type: string) => countEvents(home.resources.db, type),
    /** Makes the bus lose the frames that it retains. Throws if there are none. */
    async purgeFrames(): Promise<void> {
      const inspector = await openInspector({ url: deployment.addresses.nats_url, prefix: deployment.prefix });
      const { purged } = await inspector.jsm.streams.purge(inspector.names.streams.frames);
      await inspector.close();
      if (purged === 0) throw new Error("the bus retains no frames");
    },
  };
}
/** Such a deployment with two http processes: its agent at the first, and `elsewhere` at the other. */
export async function startTwoHttp() {
  const processes = await startProcesses();
  return { processes, agent: processes.at(), elsewhere: processes.at((await processes.start("http")).url) };
}
export type Processes = Awaited<ReturnType<typeof startProcesses>>;
