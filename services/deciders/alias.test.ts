import { test } from "vitest";
import { AliasConfigured, AliasRemoved, ConfigureAlias, RemoveAlias } from "#events/alias.ts";
import { command, given } from "../../test/given.ts";
import { alias } from "./alias.ts";

const settings = (name: string) => ({
  alias: name,
  targets: [{ model: "p/a" }],
  on: ["5xx"],
  timeout_seconds: 60,
  max_attempts: 5,
  max_seconds: 180,
});
const configured = (name: string) => AliasConfigured.of(settings(name));
const full = Array.from({ length: 100 }, (_, n) => configured(`a${n}`));

test("an alias is configured, replaced and removed", () => {
  given(alias)
    .when(command(ConfigureAlias.type, settings("fast")))
    .then(configured("fast"));
  given(alias, [configured("fast")])
    .when(command(RemoveAlias.type, { alias: "fast" }))
    .then(AliasRemoved.of({ alias: "fast" }));
});

test("an organization has at most 100, and those that it has can be changed", () => {
  given(alias, full)
    .when(command(ConfigureAlias.type, settings("one-more")))
    .rejected("too_many_aliases");
  given(alias, full)
    .when(command(ConfigureAlias.type, settings("a7")))
    .then(configured("a7"));
  given(alias, [...full, AliasRemoved.of({ alias: "a7" })])
    .when(command(ConfigureAlias.type, settings("one-more")))
    .then(configured("one-more"));
});

test("an alias that does not exist cannot be removed", () => {
  given(alias)
    .when(command(RemoveAlias.type, { alias: "fast" }))
    .rejected("alias_not_found");
});
