import { WEB_SEARCH } from "#events/provider.ts";
import type { Settings } from "#infra/config.ts";
import { createPlaces } from "#infra/scripts/places.ts";
import { guardedFetch } from "#infra/web/guardedFetch.ts";
import { readPage } from "#infra/web/page.ts";
import { searchWeb, type SearchEndpoint } from "#infra/web/search.ts";
import type { Reader } from "#services/reading/reader.ts";
import { credentialFor, type Credentials } from "#services/turns/credential.ts";
import { ModelError } from "#services/turns/model.ts";
import { WebError, type Web } from "#services/turns/tools/web.ts";

/** Pages that are read at once, each of another organization: one that takes long holds up nobody else's. */
export const PAGES_AT_ONCE = 2;

interface WebDeps {
  settings: Pick<Settings, "WEB_SEARCH_URL" | "WEB_SEARCH_API_KEY" | "PRIVATE_PROVIDER_HOSTS" | "PRIVATE_FETCH_HOSTS">;
  credentials: Pick<Credentials, "log" | "keyring">;
  reader: Pick<Reader, "read">;
}

/** The web as tools see it. An organization's own search endpoint is a tenant's address, the deployment's its operator's. */
export function openWeb({ settings, credentials, reader }: WebDeps): Web {
  const pages = guardedFetch({ privateHosts: settings.PRIVATE_FETCH_HOSTS, webOnly: true });
  const endpoints = guardedFetch({ privateHosts: settings.PRIVATE_PROVIDER_HOSTS });

  const places = createPlaces({ places: PAGES_AT_ONCE, each: 1 });

  const readerFor = (organization: string, signal: AbortSignal): Pick<Reader, "read"> => ({
    async read(file) {
      await places.enter(organization, signal);
      return reader.read(file).finally(() => places.leave(organization));
    },
  });

  async function own(organization: string): Promise<SearchEndpoint | undefined> {
    try {
      const from = { ...credentials, deployment: [], offline: false };
      const { api_key, base_url } = await credentialFor(from, organization, WEB_SEARCH);
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
      const named = await own(organization);
      const endpoint = named ?? shared;
      if (!endpoint) throw new WebError("There is no endpoint for searching the web.");
      return searchWeb(named ? endpoints : fetch, endpoint, query, limit, signal);
    },
    read: (organization, url, signal) => readPage(pages, readerFor(organization, signal), url, signal),
  };
}
