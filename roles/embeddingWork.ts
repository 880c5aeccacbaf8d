import { EMBEDDINGS } from "#events/provider.ts";
import { failpoint } from "#infra/failpoint.ts";
import { openEmbeddingFaults } from "#infra/postgres/embeddingFaults.ts";
import { countTokens } from "#infra/models/tokens.ts";
import { openEmbedder } from "#infra/searchModels/embed.ts";
import { guardedFetch } from "#infra/web/guardedFetch.ts";
import { describeLimit } from "#projections/budgets/limits.ts";
import type { BudgetWatch } from "#projections/budgets/watch.ts";
import { findWithoutVectors } from "#projections/documents/vectors.ts";
import { listOrganizationsWith } from "#projections/providers/query.ts";
import type { Handle } from "#services/handle.ts";
import { embedPassages, type PassageEmbedder } from "#services/knowledge/embedding/embedPassages.ts";
import { findSearchEndpoints } from "#services/knowledge/embedding/findEndpoints.ts";
import { findPayable, type Payer } from "#services/knowledge/embedding/findPayable.ts";
import { withTokenEstimates } from "#services/knowledge/embedding/withTokenEstimates.ts";
import { sendTo } from "#services/send.ts";
import { findModelAccess } from "#services/turns/modelAccess.ts";
import type { Resources } from "./resources.ts";

/** A long timeout, because nobody waits for passages' vectors and a request has up to a hundred texts. */
const EMBED_MS = 60_000;

/** Makes the vectors of passages until the signal, in one process of the deployment. */
export function openEmbedding(
  resources: Resources,
  handle: Handle,
  budgets: BudgetWatch,
): (signal: AbortSignal) => Promise<void> {
  const { settings, log, keyring, vault, db, worker, logger, freeSpace } = resources;
  const fetch = guardedFetch({ privateHosts: settings.PRIVATE_PROVIDER_HOSTS });
  const faults = openEmbeddingFaults(db);
  const from = { log, keyring, deployment: [], offline: false };

  async function findRefusal(organization_id: string, { principal, project_id }: Payer): Promise<string | undefined> {
    const spender = { organization_id, principal: principal ?? "", project_id, agent_id: null, user_mark: null };
    const reached = await budgets.check(spender);
    return reached?.refuses ? describeLimit(reached) : undefined;
  }

  async function findPending(organization_id: string, space: string, except: string[]): Promise<string[]> {
    if (freeSpace.isRefused("documents")) return [];
    return findPayable({
      list: (exceptPayers) => findWithoutVectors(db, organization_id, { space, except, exceptPayers }),
      findRefusal: (payer) => findRefusal(organization_id, payer),
    });
  }

  const deps: PassageEmbedder = {
    log,
    vault,
    embedder: withTokenEstimates(openEmbedder(fetch, EMBED_MS), countTokens),
    send: sendTo(handle, worker),
    failpoint,
    listOrganizations: () => listOrganizationsWith(db, EMBEDDINGS),
    async findEndpoint(organization) {
      const { embeddings } = await findSearchEndpoints({ log, keyring }, organization);
      if (!embeddings) return undefined;
      const { price } = await findModelAccess(from, organization, `${EMBEDDINGS}/${embeddings.model}`);
      return { ...embeddings, price };
    },
    findPending,
    saveFault: faults.save,
    onError: (error, organization) => logger.warn({ err: error, organization }, "passages not embedded, retrying"),
  };
  return (signal) => embedPassages(deps, signal);
}
