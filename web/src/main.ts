import { mount } from "svelte";
import App from "./App.svelte";
import { embeddedSource } from "./lib/source";
import "./style.css";

const target = document.getElementById("page");
if (target) mount(App, { target, props: { source: embeddedSource() } });
