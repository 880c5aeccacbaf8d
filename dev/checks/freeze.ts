import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { EVENTS_PAGE, renderEventsPage } from "./eventsPage.ts";
import { freeze } from "./frozen.ts";
import { freezeRows } from "./frozenRows.ts";
import { LIMITS_PAGE, renderLimitsPage } from "./limitsPage.ts";
import { renderSettingsPage, SETTINGS_PAGE } from "./settingsPage.ts";

/*
 * `node dev/checks/freeze.ts`: stores the schema and an example of every event version, and the rows of every read model version,
 * that are not stored yet. Also writes the pages about events, settings and limits.
 */

for (const name of freeze()) console.log(`frozen  ${name}`);
freezeRows();
mkdirSync(dirname(EVENTS_PAGE), { recursive: true });
writeFileSync(EVENTS_PAGE, renderEventsPage());
writeFileSync(SETTINGS_PAGE, renderSettingsPage());
writeFileSync(LIMITS_PAGE, renderLimitsPage());
