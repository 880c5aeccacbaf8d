import { getRouteApi } from "@tanstack/react-router";
import { ForAdministrators } from "../../parts/ForRole.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { Aliases } from "./Aliases.tsx";
import { Budgets } from "./Budgets.tsx";
import { Prices } from "./Prices.tsx";
import { SECTIONS, type Section } from "./search.ts";
import "./spending.css";

const route = getRouteApi("/spending");

const NAMES: Record<Section, string> = { budgets: "Budgets", prices: "Prices", aliases: "Aliases" };

/** Budgets, prices of models, and aliases. */
export function Spending() {
  const { section = "budgets", edit, q } = route.useSearch();
  const screens = {
    budgets: <Budgets edit={edit} />,
    prices: <Prices edit={edit} q={q} />,
    aliases: <Aliases edit={edit} />,
  };
  return (
    <ForAdministrators what="Budgets and prices">
      <section className="screen" aria-labelledby="title">
        <h1 id="title">Spending</h1>
        <Tabs
          label="Section"
          names={SECTIONS}
          current={section}
          title={(name) => NAMES[name]}
          tab={(name, rest) => <Tab {...rest} to="/spending" search={name === "budgets" ? {} : { section: name }} />}
        />
        {screens[section]}
      </section>
    </ForAdministrators>
  );
}
