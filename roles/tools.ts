import { openSearchEngine } from "#infra/meilisearch/searchEngine.ts";
import { openReader } from "#infra/readers/openReader.ts";
import { openScripts } from "#infra/sandbox/openScripts.ts";
import { limitDownloadMemory } from "#services/turns/tools/downloadMemory.ts";
import { createTools } from "#services/turns/tools/index.ts";
import { openKnowledge } from "./knowledge.ts";
import type { Resources } from "./resources.ts";
import { openScriptedTools } from "./scriptedTools.ts";
import { searchInTurns } from "./searchInTurns.ts";
import { openSearchModels } from "./searchModels.ts";
import { searchServer } from "./searchServer.ts";
import { MAX_PAGES_AT_ONCE, openWeb } from "./web.ts";

/** Limits for reading a web page. A model waits for it, so it gets less time than a document. */
const PAGE_LIMITS = { deadline_ms: 20_000, resident: 1_000_000_000, idle_ms: 60_000 };

/** The tools of turns and steps, with their processes, connections, and shared room for downloads. */
export function openTools(resources: Resources) {
  const { settings, db, log, vault, keyring, schemas } = resources;
  const engine = searchInTurns(openSearchEngine(searchServer(resources, "search")));
  const reader = openReader({ processes: MAX_PAGES_AT_ONCE, limits: PAGE_LIMITS });
  const runner = openScripts({ processes: settings.READERS });
  const openDownloadMemory = limitDownloadMemory();
  const tools = createTools({
    knowledge: openKnowledge({ db, engine, models: openSearchModels(resources), vault, base_url: settings.BASE_URL }),
    web: openWeb({ settings, credentials: { log, keyring }, reader, openDownloadMemory }),
    scripts: openScriptedTools({ settings, db, log, vault, keyring, runner, schemas }),
  });
  return {
    tools,
    openDownloadMemory,
    async close(): Promise<void> {
      await Promise.all([engine.close(), reader.close(), runner.close()]);
    },
  };
}
