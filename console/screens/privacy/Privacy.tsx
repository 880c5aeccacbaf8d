import { getRouteApi } from "@tanstack/react-router";
import { useRole } from "../../api/useRole.ts";
import { Restricted } from "../../parts/Restricted.tsx";
import { Tab } from "../../parts/Tab.tsx";
import { Erasures } from "./Erasures.tsx";
import { Exports } from "./Exports.tsx";
import { Retention } from "./Retention.tsx";
import { SECTIONS, type Section } from "./search.ts";

const route = getRouteApi("/privacy");

const NAMES: Record<Section, string> = { retention: "Retention", exports: "Exports", erasures: "Erasures" };

/** For how long things are kept, what is stored about somebody, and deleting it for good. */
export function Privacy() {
  const { isAdmin } = useRole();
  const { section = "retention", subject, after } = route.useSearch();
  const screens = {
    retention: <Retention edit={subject} />,
    exports: <Exports chosen={subject} />,
    erasures: <Erasures chosen={subject} after={after} />,
  };
  return (
    <Restricted what="Retention, exports and erasures" isAllowed={isAdmin}>
      <section className="screen narrow" aria-labelledby="title">
        <h1 id="title">Privacy</h1>
        <nav aria-label="Section" className="tabs">
          {SECTIONS.map((name) => (
            <Tab
              key={name}
              to="/privacy"
              search={name === "retention" ? {} : { section: name }}
              isCurrent={name === section}
            >
              {NAMES[name]}
            </Tab>
          ))}
        </nav>
        {screens[section]}
      </section>
    </Restricted>
  );
}
