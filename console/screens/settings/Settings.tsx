import { getRouteApi, Link } from "@tanstack/react-router";
import { useRole } from "../../api/useRole.ts";
import { EmptyState } from "../../parts/Notices.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { Embeddings } from "./Embeddings.tsx";
import { Groups } from "./Groups.tsx";
import { Projects } from "./Projects.tsx";
import { Providers } from "./Providers.tsx";
import { SECTIONS, type Section } from "./search.ts";
import { Secrets } from "./Secrets.tsx";
import { You } from "./You.tsx";

const route = getRouteApi("/settings");

const NAMES: Record<Section, string> = {
  you: "Organization and you",
  projects: "Projects",
  groups: "Groups",
  providers: "Providers",
  secrets: "Secrets",
};

const NotYours = ({ section }: { section: Section }) => (
  <EmptyState title={`${NAMES[section]} are not shown to your role`}>
    <p>
      Owners and administrators see providers; builders see secrets too. <Link to="/members">See who they are</Link>.
    </p>
  </EmptyState>
);

/** The organization's projects, providers and secrets, and the person's own password. */
export function Settings() {
  const { section = "you", edit } = route.useSearch();
  const { isAdmin, isBuilder } = useRole();
  const isShown = (name: Section) => (name === "providers" ? isAdmin : name === "secrets" ? isBuilder : true);
  const screens = {
    you: <You />,
    projects: <Projects edit={edit} />,
    groups: <Groups edit={edit} />,
    providers: (
      <>
        <Embeddings />
        <Providers edit={edit} />
      </>
    ),
    secrets: <Secrets edit={edit} />,
  };
  return (
    <section className="screen narrow" aria-labelledby="title">
      <h1 id="title">Settings</h1>
      <Tabs
        label="Section"
        names={SECTIONS.filter(isShown)}
        current={section}
        title={(name) => NAMES[name]}
        tab={(name, rest) => <Tab {...rest} to="/settings" search={name === "you" ? {} : { section: name }} />}
      />
      {isShown(section) ? screens[section] : <NotYours section={section} />}
    </section>
  );
}
