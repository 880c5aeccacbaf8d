import { constants, setPriority } from "node:os";
import { openAttacker } from "./attacker.ts";
import { startBystander } from "./bystander.ts";
import { startDeployment } from "./deployment.ts";

export interface Layout {
  /** A process for each role, each with its own NATS user. */
  isApart?: boolean;
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** A running service, the organization that attacks it, and one that only works. For `beforeAll`. */
export async function openStage({ isApart = false }: Layout = {}) {
  const env = { SCHEDULE_SECONDS: "1", PRIVATE_PROVIDER_HOSTS: "127.0.0.1", PRIVATE_FETCH_HOSTS: "127.0.0.1" };
  const deployment = await startDeployment({ env, isApart });
  const attacker = await openAttacker(deployment, await deployment.organization("Attacker"));
  if (deployment.urlOf) {
    await deployment.addListener("listener", attacker.organization_id);
    attacker.feed = { url: deployment.urlOf("listener", "l") };
  }
  const bystander = await startBystander(deployment, await deployment.organization("Bystander"));
  // The attacker's clients run in this thread, and would run on other machines: what they compute must not delay the service. The
  // service and the bystander's thread have started already, so they keep their priority.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  return { deployment, attacker, bystander };
}
