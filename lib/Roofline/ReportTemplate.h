//===- ReportTemplate.h - The page of cupilot report -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_ROOFLINE_REPORTTEMPLATE_H
#define CUPILOT_LIB_ROOFLINE_REPORTTEMPLATE_H

namespace cupilot {

/// Mustache; every value is escaped.
inline constexpr const char ReportTemplate[] = R"mustache(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{{title}}</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; color: #1c2330; background: #fff; margin: 2em auto; max-width: 1000px; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2.2em; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; margin: .6em 0 1em; }
th, td { text-align: left; padding: .3em .6em; border-bottom: 1px solid #dfe3ea; vertical-align: top; }
th { font-weight: 600; background: #f4f6f9; } td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.g { font-family: ui-monospace, monospace; font-size: 12.5px; overflow-wrap: anywhere; }
.note { color: #59637a; font-size: 13.5px; }
svg { width: 100%; height: auto; background: #fcfdfe; border: 1px solid #dfe3ea; }
svg text { font: 12px system-ui, sans-serif; fill: #39435a; }
.tick { stroke: #e6e9ef; } .roof { stroke: #39435a; stroke-width: 1.6; fill: none; } .roof.slant { stroke-dasharray: none; } .roof.level { stroke-dasharray: 6 3; }
circle { stroke: #fff; stroke-width: 1; fill: #8a93a6; } circle.modelled { fill-opacity: .45; stroke: #39435a; }
circle.original { fill: #1c2330; } circle.accepted, circle.kept { fill: #12874a; } circle.slower { fill: #d98a00; } circle.gate, circle.inadmissible { fill: #c62f3b; }
.v { font-weight: 600; } .v.accepted, .v.kept { color: #12874a; } .v.gate, .v.inadmissible { color: #c62f3b; } .v.slower { color: #a86a00; }
.best { fill: none; stroke: #12874a; stroke-width: 1.6; } .edge { stroke: #b6bdcb; stroke-width: .8; } circle.duplicate, circle.refused { fill: #c5cad4; }
svg.lineage text { font-size: 10px; } pre { font: 12px/1.4 ui-monospace, monospace; background: #f8f9fb; border: 1px solid #dfe3ea; padding: .6em; overflow-x: auto; }
pre .add { color: #12874a; } pre .cut { color: #c62f3b; } pre .place { color: #59637a; } details { margin: .6em 0; } summary { cursor: pointer; font-weight: 600; }
.warn { color: #a86a00; font-weight: 600; }
</style>
</head>
<body>
<h1>{{title}}</h1>
<p>{{card}}: device memory {{dram}} TB/s, L2 {{l2}} TB/s, {{fp32}} T fp32 and {{fp64}} T fp64 operations a second (a fused multiplication and addition is one). Ceilings: {{origin}}.</p>
<p class="note">Bytes and operations were counted on the cpu device. Modelled times are no measured ones; points of both kinds are drawn apart.</p>
{{#stories}}{{> story}}{{/stories}}{{#kernels}}
<h2>{{name}}</h2>
<p>{{workload}}</p>
<table class="classes"><tr><th>source</th><th>class</th><th>grounds</th><th>not known</th></tr>
{{#opinions}}<tr><td>{{source}}</td><td class="v">{{class}}</td><td>{{grounds}}</td><td>{{unknown}}</td></tr>
{{/opinions}}</table>
{{#disagree}}<p class="warn">The sources disagree.</p>
{{/disagree}}
{{#chart}}<svg viewBox="0 0 {{width}} {{height}}" role="img" aria-label="roofline">
{{#ticks}}<line class="tick" x1="{{x1}}" y1="{{y1}}" x2="{{x2}}" y2="{{y2}}"/><text x="{{textX}}" y="{{textY}}" text-anchor="{{anchor}}">{{text}}</text>
{{/ticks}}{{#roofs}}<line class="roof {{kind}}" x1="{{x1}}" y1="{{y1}}" x2="{{x2}}" y2="{{y2}}"/><text x="{{textX}}" y="{{textY}}" text-anchor="{{anchor}}">{{name}} {{rate}}</text>
{{/roofs}}<text x="{{middleX}}" y="{{baseY}}" text-anchor="middle">operations per byte of device memory</text>
<text transform="translate(16 {{middleY}}) rotate(-90)" text-anchor="middle">operations, G/s</text>
{{#points}}<circle class="{{verdict}} {{how}}" cx="{{x}}" cy="{{y}}" r="{{r}}"><title>{{number}}: {{name}} {{genome}}
{{verdict}}, {{how}} {{time}} us, {{rate}} G/s at {{intensity}} per byte</title></circle><text x="{{textX}}" y="{{textY}}">{{number}}</text>
{{/points}}</svg>
<p class="note">Faint points: modelled times. Full points: measured ones. Black: the original; green: accepted; amber: not faster; red: rejected by the gate. Numbers are those of the table.</p>
{{/chart}}
<table class="variants"><tr><th>#</th><th>variant</th><th>verdict</th><th>class</th><th>op/byte</th><th>modelled us</th><th>measured us</th><th>ratio</th><th>headroom</th></tr>
{{#variants}}<tr><td class="n">{{number}}</td><td class="g">{{genome}}</td><td><span class="v {{verdict}}">{{verdict}}</span> {{reason}}</td><td>{{class}}</td><td class="n">{{intensity}}</td><td class="n">{{modelled}}</td><td class="n">{{measured}}</td><td class="n">{{ratio}}</td><td class="n">{{headroom}}</td></tr>
{{/variants}}</table>
{{#unplaced}}<p class="note">{{unplaced}} of them could not be counted and have no point.</p>
{{/unplaced}}
{{/kernels}}
{{^kernels}}<p>There is no kernel to show.</p>
{{/kernels}}
</body>
</html>
)mustache";

/// One search: what became of its candidates, and of whom they are.
inline constexpr const char StoryTemplate[] =
    R"mustache(<h2>Search of {{name}}</h2>
<p>{{counts}}. Speed-ups are {{basis}}; the search is {{run}}.</p>
<h3>Speed-up over time</h3>
{{#progress}}<svg class="progress" viewBox="0 0 {{width}} {{height}}" role="img" aria-label="speed-ups in the order of evaluation">
{{#ticks}}<line class="tick" x1="{{left}}" y1="{{y}}" x2="{{right}}" y2="{{y}}"/><text x="4" y="{{y}}">{{text}}</text>
{{/ticks}}<path class="best" d="{{path}}"/>
{{#points}}<circle class="{{outcome}}" cx="{{x}}" cy="{{y}}" r="4"><title>{{name}} {{ratio}} {{outcome}}: {{genome}}</title></circle>
{{/points}}</svg>
<p class="note">In the order of evaluation; the green line is the best accepted one so far.</p>
{{/progress}}
<h3>Lineage</h3>
{{#lineage}}<svg class="lineage" viewBox="0 0 {{width}} {{height}}" role="img" aria-label="parents and offspring">
{{#edges}}<line class="edge" x1="{{x1}}" y1="{{y1}}" x2="{{x2}}" y2="{{y2}}"/>
{{/edges}}{{#nodes}}<circle class="{{outcome}}" cx="{{x}}" cy="{{y}}" r="5"><title>{{genome}}
{{outcome}}</title></circle><text x="{{textX}}" y="{{textY}}">{{name}} {{ratio}}</text>
{{/nodes}}</svg>
{{/lineage}}
<h3>Strategies</h3>
<table class="genes"><tr><th>strategy</th><th>candidates</th><th>passed</th><th>accepted</th><th>best</th><th>helped, in all searches of the class and GPU</th></tr>
{{#genes}}<tr><td class="g">{{strategy}}</td><td class="n">{{candidates}}</td><td class="n">{{passed}}</td><td class="n">{{accepted}}</td><td class="n">{{best}}</td><td class="n">{{record}}</td></tr>
{{/genes}}</table>
<h3>Cost</h3>
<p class="cost">{{asked}}</p>
<table class="asked"><tr><th>candidate</th><th>outcome</th><th>calls</th><th>tokens asked</th><th>answered</th><th>cost</th><th>s</th></tr>
{{#askedRows}}<tr><td class="g">{{name}}</td><td>{{outcome}}</td><td class="n">{{calls}}</td><td class="n">{{prompt}}</td><td class="n">{{answer}}</td><td class="n">{{cost}}</td><td class="n">{{seconds}}</td></tr>
{{/askedRows}}</table>
{{#diffs}}<details open><summary>{{name}} against the original</summary>
<pre>{{#lines}}<span class="{{kind}}">{{text}}</span>
{{/lines}}</pre></details>
{{/diffs}}
)mustache";

} // namespace cupilot

#endif // CUPILOT_LIB_ROOFLINE_REPORTTEMPLATE_H
