import { WEB_SEARCH } from "#events/provider.ts";
import type { Settings } from "#infra/config.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { guardedFetch } from "#infra/web/guardedFetch.ts";
import { readPage } from "#infra/web/readPage.ts";
import { searchWeb, type WebSearchEndpoint } from "#infra/web/searchWeb.ts";
import type { Reader } from "#services/reading/reader.ts";
import { findCredential, type CredentialSources } from "#services/turns/modelAccess.ts";
import { ModelError } from "#services/turns/model.ts";
import { WebError, type OpenDownloadMemory, type Web } from "#services/turns/tools/web.ts";

/** Pages read at the same time, each of another organization, so that a slow page delays no other organization. */
export const MAX_PAGES_AT_ONCE = 2;

interface WebDeps {
  settings: Pick<Settings, "WEB_SEARCH_URL" | "WEB_SEARCH_API_KEY" | "PRIVATE_PROVIDER_HOSTS" | "PRIVATE_FETCH_HOSTS">;
  credentials: Pick<CredentialSources, "log" | "keyring">;
  reader: Pick<Reader, "read">;
  openDownloadMemory: OpenDownloadMemory;
}

/**
 * Web search and pages for the tools. An organization chose the address of its own search endpoint, so requests to it are guarded;
 * the operator chose the deployment's.
 */
export function openWeb({ settings, credentials, reader, openDownloadMemory }: WebDeps): Web {
  const pages = guardedFetch({ privateHosts: settings.PRIVATE_FETCH_HOSTS, webOnly: true });
  const endpoints = guardedFetch({ privateHosts: settings.PRIVATE_PROVIDER_HOSTS });

  const semaphore = createFairSemaphore({ total: MAX_PAGES_AT_ONCE, perTenant: 1 });

  const readerFor = (organization: string, signal: AbortSignal): Pick<Reader, "read"> => ({
    read: (file) => semaphore.run(organization, () => reader.read(file), signal),
  });

  async function findOwnEndpoint(organization: string): Promise<WebSearchEndpoint | undefined> {
    try {
      const from = { ...credentials, deployment: [], offline: false };
      const { api_key, base_url } = await findCredential(from, organization, WEB_SEARCH);
      return { url: base_url!, api_key };
    } catch (error) {
      if (error instanceof ModelError) return undefined;
      throw error;
    }
  }
  const shared = settings.WEB_SEARCH_URL
    ? { url: settings.WEB_SEARCH_URL, api_key: settings.WEB_SEARCH_API_KEY ?? null }
    : undefined;

  return {
    async search(organization, query, limit, signal) {
      const own = await findOwnEndpoint(organization);
      const endpoint = own ?? shared;
      if (!endpoint) throw new WebError("No endpoint for web search is configured.");
      return searchWeb(own ? endpoints : fetch, endpoint, query, limit, signal);
    },
    read: (organization, url, signal) =>
      readPage(
        { fetch: pages, reader: readerFor(organization, signal), memory: openDownloadMemory(organization) },
        url,
        signal,
      ),
  };
}
