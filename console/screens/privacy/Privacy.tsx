import { getRouteApi } from "@tanstack/react-router";
import { ForAdministrators } from "../../parts/ForRole.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { Contents } from "./Contents.tsx";
import { Erasures } from "./Erasures.tsx";
import { Exports } from "./Exports.tsx";
import { Holds } from "./Holds.tsx";
import { Retention } from "./Retention.tsx";
import { SECTIONS, type Section } from "./search.ts";

const route = getRouteApi("/privacy");

const NAMES: Record<Section, string> = {
  retention: "Retention",
  holds: "Holds",
  exports: "Exports",
  contents: "What they have",
  erasures: "Erasures",
};

/** Retention, holds, exports and erasures. */
export function Privacy() {
  const { section = "retention", subject, page, after, kind } = route.useSearch();
  const screens = {
    retention: <Retention edit={subject} />,
    holds: <Holds chosen={subject} page={page} />,
    exports: <Exports chosen={subject} />,
    contents: <Contents key={subject} chosen={subject} kind={kind} after={after} />,
    erasures: <Erasures chosen={subject} after={after} />,
  };
  return (
    <ForAdministrators what="Retention, holds, exports and erasures">
      <section className="screen narrow" aria-labelledby="title">
        <h1 id="title">Privacy</h1>
        <Tabs
          label="Section"
          names={SECTIONS}
          current={section}
          title={(name) => NAMES[name]}
          tab={(name, rest) => <Tab {...rest} to="/privacy" search={name === "retention" ? {} : { section: name }} />}
        />
        {screens[section]}
      </section>
    </ForAdministrators>
  );
}
