//===- ReportTemplate.h - The page of cupilot report -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_REPORT_REPORTTEMPLATE_H
#define CUPILOT_LIB_REPORT_REPORTTEMPLATE_H

namespace cupilot {

/// Mustache; every value is escaped.
inline constexpr const char ReportTemplate[] = R"mustache(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{title}}</title>
<style>
:root { color-scheme: light dark; --ink: #1c2330; --soft: #59637a; --paper: #fff; --panel: #f8f9fb; --head: #eef1f5; --rule: #dfe3ea; --grid: #e6e9ef; --edge: #b6bdcb;
  --good: #0e7440; --slow: #8f5a00; --bad: #b92732; --idle: #8a93a6; --faint: #c5cad4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8f0; --soft: #a3adc2; --paper: #14171d; --panel: #1b1f27; --head: #252a34; --rule: #343b48; --grid: #2a303b; --edge: #566074;
  --good: #4ec98a; --slow: #e9ae4a; --bad: #ff7b83; --idle: #97a1b5; --faint: #4d5668; } }
* { box-sizing: border-box; }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2em auto; max-width: 1100px; padding: 0 1em; }
h1 { font-size: 1.5em; overflow-wrap: anywhere; } h2 { font-size: 1.2em; margin-top: 2.4em; padding-top: .5em; border-top: 2px solid var(--rule); overflow-wrap: anywhere; } h3 { font-size: 1em; margin: 1.6em 0 .4em; }
p { overflow-wrap: anywhere; } .note { color: var(--soft); font-size: 13.5px; } .warn { color: var(--slow); font-weight: 600; }
.wide { overflow-x: auto; margin: .6em 0 1em; }
table { border-collapse: collapse; width: 100%; min-width: 700px; font-size: 13.5px; }
th, td { text-align: left; padding: .3em .6em; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; background: var(--head); } th.n, td.n { text-align: right; } td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
td.g { font-family: ui-monospace, monospace; font-size: 12.5px; overflow-wrap: anywhere; min-width: 32ch; } td.w { overflow-wrap: anywhere; min-width: 16em; }
td.k { overflow-wrap: anywhere; min-width: 20ch; } td.c { overflow-wrap: anywhere; min-width: 14ch; } table.answer { min-width: 980px; } table.answer td { padding: .45em .6em; } a { color: inherit; } .program { font-size: 1.1em; font-weight: 600; }
tr.sum td { font-weight: 600; border-top: 2px solid var(--rule); }
svg { display: block; width: 100%; min-width: 700px; height: auto; background: var(--panel); border: 1px solid var(--rule); }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); paint-order: stroke; stroke: var(--panel); stroke-width: 3px; } svg.lineage text { font-size: 11px; }
.tick { stroke: var(--grid); } .roof { stroke: var(--ink); stroke-width: 1.6; fill: none; } .roof.level { stroke-dasharray: 6 3; }
.best { fill: none; stroke: var(--good); stroke-width: 1.6; } .edge { stroke: var(--edge); stroke-width: 1; }
circle { stroke: var(--paper); stroke-width: 1; fill: var(--idle); } circle.modelled { fill-opacity: .45; stroke: var(--ink); }
circle.original { fill: var(--ink); } circle.accepted, circle.kept { fill: var(--good); } circle.slower { fill: var(--slow); }
circle.gate, circle.inadmissible, circle.compile-error { fill: var(--bad); } circle.duplicate, circle.refused, circle.no-answer { fill: var(--faint); }
.v { font-weight: 600; } .v.accepted, .v.kept { color: var(--good); } .v.gate, .v.inadmissible, .v.compile-error { color: var(--bad); } .v.slower { color: var(--slow); }
pre { font: 12px/1.4 ui-monospace, monospace; background: var(--panel); border: 1px solid var(--rule); padding: .6em; overflow-x: auto; }
pre .add { color: var(--good); } pre .cut { color: var(--bad); } pre .place { color: var(--soft); } details { margin: .6em 0; } summary { cursor: pointer; font-weight: 600; }
@media print { .wide { overflow: visible; } svg { min-width: 0; } }
</style>
</head>
<body>
<h1>{{title}}</h1>
{{#answer}}{{> answers}}{{#folded}}<details><summary>{{count}} more kernels</summary>
{{> answers}}</details>
{{/folded}}{{#program}}<p class="program">{{.}}</p>
{{/program}}{{#caveat}}<p>{{caveat}}</p>
{{/caveat}}<p class="note">Share: of the program's kernel time. Times: of all recorded launches of the kernel together, on the {{card}}, where they are known for this build. Of the ceiling: how much of its time the kernel would take if the unit that limits its work were always busy; the original's, then the best variant's. Gate: "proved" on the cpu device with every check; "compared" with the original's results on a GPU.</p>
{{/answer}}{{^answer}}<p>There is no kernel to show.</p>
{{/answer}}<p class="note">{{card}}: device memory {{dram}} TB/s, L2 {{l2}} TB/s, {{fp32}} T fp32 and {{fp64}} T fp64 operations a second (a fused multiplication and addition is one). Ceilings: {{origin}}. Bytes and operations were counted on the cpu device, in large launches from some of their blocks. Modelled times are no measured ones; points of both kinds are drawn apart.</p>
{{#kernels}}
<h2 id="k{{at}}">{{name}}</h2>
{{#why}}<p>{{why}}.</p>
{{/why}}{{#rooflines}}{{> roofline}}{{/rooflines}}
{{#more}}<details><summary>{{workload}}</summary>
{{> roofline}}</details>
{{/more}}{{#stories}}{{> story}}{{/stories}}
{{/kernels}}
</body>
</html>
)mustache";

/// The kernels of a program, or some of them.
inline constexpr const char AnswersTemplate[] =
    R"mustache(<div class="wide"><table class="answer"><tr><th class="n">share</th><th>kernel</th><th>contract</th><th>compiler</th><th class="n">original us</th><th class="n">best us</th><th class="n">ratio</th><th>basis</th><th class="n">of the ceiling</th><th>gate</th></tr>
{{#answers}}<tr>{{#first}}<td class="n" rowspan="{{rows}}">{{share}}</td><td class="k" rowspan="{{rows}}">{{#at}}<a href="#k{{at}}">{{name}}</a>{{/at}}{{^at}}{{name}}{{/at}}</td><td rowspan="{{rows}}">{{contract}}</td>{{/first}}{{#known}}<td class="c">{{compiler}}, {{arch}}</td><td class="n">{{original}}</td><td class="n">{{best}}</td><td class="n">{{ratio}}{{#interval}}<div><small>{{interval}}</small></div>{{/interval}}</td><td>{{basis}}<div><small>{{device}}</small></div></td><td class="n">{{ceiling}}</td><td>{{gate}}<div><small>{{variant}}</small></div></td>{{/known}}{{#none}}<td class="w" colspan="7">{{none}}</td>{{/none}}</tr>
{{/answers}}</table></div>
)mustache";

/// A kernel on one workload.
inline constexpr const char RooflineTemplate[] =
    R"mustache(<p>{{workload}}</p>
<div class="wide"><table class="classes"><tr><th>source</th><th>class</th><th>grounds</th><th>not known</th></tr>
{{#opinions}}<tr><td>{{source}}</td><td class="v">{{class}}</td><td class="w">{{grounds}}</td><td>{{unknown}}</td></tr>
{{/opinions}}</table></div>
{{#disagree}}<p class="warn">The sources disagree.</p>
{{/disagree}}
{{#chart}}<div class="wide"><svg viewBox="0 0 {{width}} {{height}}" role="img" aria-label="roofline">
{{#ticks}}<line class="tick" x1="{{x1}}" y1="{{y1}}" x2="{{x2}}" y2="{{y2}}"/><text x="{{textX}}" y="{{textY}}" text-anchor="{{anchor}}">{{text}}</text>
{{/ticks}}{{#roofs}}<line class="roof {{kind}}" x1="{{x1}}" y1="{{y1}}" x2="{{x2}}" y2="{{y2}}"/><text x="{{textX}}" y="{{textY}}" text-anchor="{{anchor}}">{{name}} {{rate}}</text>
{{/roofs}}<text x="{{middleX}}" y="{{baseY}}" text-anchor="middle">operations per byte of device memory</text>
<text transform="translate(16 {{middleY}}) rotate(-90)" text-anchor="middle">operations, G/s</text>
{{#points}}<circle class="{{verdict}} {{how}}" cx="{{x}}" cy="{{y}}" r="{{r}}"><title>{{number}}: {{name}} {{genome}}
{{verdict}}, {{how}} {{time}} us, {{rate}} G/s at {{intensity}} per byte</title></circle>{{#label}}<text x="{{textX}}" y="{{textY}}">{{number}}</text>{{/label}}
{{/points}}</svg></div>
<p class="note">Faint points: modelled times. Full points: measured ones. Green: accepted; amber: not faster; red: rejected by the gate; the original has the text's color. Numbers are those of the table.</p>
{{/chart}}
<div class="wide"><table class="variants"><tr><th class="n">#</th><th>variant</th><th>verdict</th><th>class</th><th class="n">op/byte</th><th class="n">modelled us</th><th class="n">measured us</th><th class="n">ratio</th><th class="n">headroom</th></tr>
{{#variants}}{{> variant}}{{/variants}}</table></div>
{{#folded}}<details><summary>{{count}} candidates of searches</summary>
<div class="wide"><table class="variants"><tr><th class="n">#</th><th>variant</th><th>verdict</th><th>class</th><th class="n">op/byte</th><th class="n">modelled us</th><th class="n">measured us</th><th class="n">ratio</th><th class="n">headroom</th></tr>
{{#rows}}{{> variant}}{{/rows}}</table></div></details>
{{/folded}}{{#noPoint}}<p class="note">The original has no point: {{noPoint}}.</p>
{{/noPoint}}{{#unplaced}}<p class="note">{{unplaced}} of them could not be counted and have no point.</p>
{{/unplaced}}
)mustache";

inline constexpr const char VariantTemplate[] =
    R"mustache(<tr><td class="n">{{number}}</td><td class="g">{{genome}}{{#domain}}<div><small>runs if {{domain}}</small></div>{{/domain}}</td><td class="w"><span class="v {{verdict}}">{{verdict}}</span> {{reason}}{{#outside}} (its guard leaves this launch to the original){{/outside}}</td><td>{{class}}</td><td class="n">{{intensity}}</td><td class="n">{{modelled}}</td><td class="n">{{measured}}</td><td class="n">{{ratio}}</td><td class="n">{{headroom}}</td></tr>
)mustache";

/// One search: what became of its candidates, and of whom they are.
inline constexpr const char StoryTemplate[] =
    R"mustache(<h3>What was tried</h3>
<p>{{counts}}. Speed-ups are {{basis}}; the search is {{run}}.</p>
{{#progress}}<div class="wide"><svg class="progress" viewBox="0 0 {{width}} {{height}}" role="img" aria-label="speed-ups in the order of evaluation">
{{#ticks}}<line class="tick" x1="{{left}}" y1="{{y}}" x2="{{right}}" y2="{{y}}"/><text x="{{tickX}}" y="{{textY}}" text-anchor="end">{{text}}</text>
{{/ticks}}{{#order}}<text x="{{x}}" y="{{orderY}}" text-anchor="middle">{{text}}</text>
{{/order}}<text x="{{middleX}}" y="{{baseY}}" text-anchor="middle">candidates, in the order of evaluation</text>
<path class="best" d="{{path}}"/>
{{#points}}<circle class="{{outcome}}" cx="{{x}}" cy="{{y}}" r="4"><title>{{name}} {{ratio}} {{outcome}}: {{genome}}</title></circle>
{{/points}}</svg></div>
<p class="note">The line is the best accepted one so far. Green: accepted; amber: not faster; red: rejected, or it does not compile; pale: duplicates, and what was refused or not answered. What has no time stands below the lines.</p>
{{/progress}}
{{#lineage}}<details{{#isShort}} open{{/isShort}}><summary>Lineage of {{count}} candidates</summary>
<div class="wide"><svg class="lineage" style="min-width: {{width}}px" viewBox="0 0 {{width}} {{height}}" role="img" aria-label="parents and offspring">
{{#edges}}<line class="edge" x1="{{x1}}" y1="{{y1}}" x2="{{x2}}" y2="{{y2}}"/>
{{/edges}}{{#nodes}}<circle class="{{outcome}}" cx="{{x}}" cy="{{y}}" r="5"><title>{{genome}}
{{outcome}}</title></circle><text x="{{textX}}" y="{{textY}}">{{name}} {{ratio}}</text>
{{/nodes}}</svg></div></details>
{{/lineage}}{{#strategies}}<details{{#isShort}} open{{/isShort}}><summary>{{count}} strategies</summary>
<div class="wide"><table class="genes"><tr><th>strategy</th><th class="n">candidates</th><th class="n">passed</th><th class="n">accepted</th><th class="n">best</th><th class="n">helped, in all searches of the class and GPU</th></tr>
{{#genes}}<tr><td class="g">{{strategy}}</td><td class="n">{{candidates}}</td><td class="n">{{passed}}</td><td class="n">{{accepted}}</td><td class="n">{{best}}</td><td class="n">{{record}}</td></tr>
{{/genes}}</table></div></details>
{{/strategies}}{{^anyAsked}}<p>No language model was asked.</p>
{{/anyAsked}}{{#anyAsked}}<details{{#isShort}} open{{/isShort}}><summary>Cost: {{#askedSum}}{{calls}} calls{{/askedSum}}</summary>
<div class="wide"><table class="asked"><tr><th>asked for</th><th>outcome</th><th class="n">calls</th><th class="n">tokens asked</th><th class="n">answered</th><th class="n">cost</th><th class="n">s</th></tr>
{{#askedRows}}<tr><td class="g">{{name}}</td><td>{{outcome}}</td><td class="n">{{calls}}</td><td class="n">{{prompt}}</td><td class="n">{{answer}}</td><td class="n">{{cost}}</td><td class="n">{{seconds}}</td></tr>
{{/askedRows}}{{#askedSum}}<tr class="sum"><td>all</td><td></td><td class="n">{{calls}}</td><td class="n">{{prompt}}</td><td class="n">{{answer}}</td><td class="n">{{cost}}</td><td class="n">{{seconds}}</td></tr>
{{/askedSum}}</table></div></details>
{{/anyAsked}}{{#diffs}}<details{{#isShort}} open{{/isShort}}><summary>{{name}} against the original</summary>
{{#prompts}}<p class="note">Written with the prompts {{prompts}}.</p>
{{/prompts}}<pre>{{#lines}}<span class="{{kind}}">{{text}}</span>
{{/lines}}</pre></details>
{{/diffs}}
)mustache";

} // namespace cupilot

#endif // CUPILOT_LIB_REPORT_REPORTTEMPLATE_H
