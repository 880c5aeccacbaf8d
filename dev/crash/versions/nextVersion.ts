import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/*
 * Makes a version that could follow this one and only adds things. Its changes are applied to a copy of the tree, so the drill
 * needs no repository history. If a change no longer finds its place, that is an error.
 */

interface Edit {
  file: string;
  text: string;
  instead: string;
}

const MIGRATION = `-- Up Migration
alter table log.events add column next_version text;
alter table log.commands add column next_version text;
alter table log.streams add column next_version text default 'next';
create table ops.next_version (name text primary key);
select ops.protect_table('ops.next_version');
-- Down Migration
`;

const EDITS: Edit[] = [
  // an optional field of an event and of a command
  {
    file: "events/project.ts",
    text: 'ProjectChanged = defineEvent("ProjectChanged", { public: Id,',
    instead: 'ProjectChanged = defineEvent("ProjectChanged", { public: Id.extend({ next: z.string().optional() }),',
  },
  {
    file: "events/project.ts",
    text: 'ChangeProject = defineCommand("ChangeProject", "project", Id.extend(Personal.shape));',
    instead:
      'ChangeProject = defineCommand("ChangeProject", "project", Id.extend({ ...Personal.shape, next: z.string().optional() }));',
  },
  {
    file: "http/account/projects.ts",
    text: "await http.send(ChangeProject, { ...commandFor(request, row.id), data,",
    instead: 'await http.send(ChangeProject, { ...commandFor(request, row.id), data: { ...data, next: "sent" },',
  },
  {
    file: "services/deciders/project.ts",
    text: "return [ProjectChanged.of({ project_id },",
    instead: 'return [ProjectChanged.of({ project_id, next: command.data.next ?? "not sent" },',
  },
  // a column of two read models
  { file: "projections/projects/table.sql", text: "name text not null,", instead: "name text not null, next text," },
  {
    file: "projections/projects/project.ts",
    text: "[rows.change(event, event.data.project_id, {",
    instead: "[rows.change(event, event.data.project_id, { next: (event.data as any).next ?? null,",
  },
  {
    file: "projections/projects/query.ts",
    text: '"select id, name,',
    instead: '"select id, next, name,',
  },
  { file: "projections/turns/table.sql", text: "create table turns (", instead: "create table turns (\n  next text," },
];
/** Projections with a new column, which are rebuilt. */
const REBUILT = ["projections/projects/project.ts", "projections/turns/project.ts"];

function edit(root: string, { file, text, instead }: Edit): void {
  const path = join(root, file);
  const parts = readFileSync(path, "utf8").split(text);
  if (parts.length !== 2)
    throw new Error(`The next version finds its line ${parts.length - 1} times in ${file} instead of once: ${text}`);
  writeFileSync(path, parts.join(instead));
}

function raiseVersion(root: string, file: string): void {
  const [text = "version:", version] = /^ {2}version: (\d+),$/m.exec(readFileSync(join(root, file), "utf8")) ?? [];
  edit(root, { file, text, instead: `  version: ${Number(version) + 1},` });
}

/** Changes a copy of this tree into the next version. */
export function changeIntoNextVersion(root: string): void {
  writeFileSync(join(root, "infra/postgres/migrations/9000_next_version.sql"), MIGRATION);
  for (const change of EDITS) edit(root, change);
  for (const file of REBUILT) raiseVersion(root, file);
}
