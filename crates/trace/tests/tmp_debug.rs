//! tmp
mod common;
use common::collect::collect; use common::{Exchange, Pipe, run};
use tcp::Scheme; use trace::*; use units::{Duration, Instant};
#[test] fn dbg() {
 let a=|k:&str,d:u64|std::env::var(k).ok().map_or(d,|x|x.parse().unwrap());
 let scheme=std::env::var("SCH").unwrap_or("linux".into()); let client=scheme.split('+').next().unwrap().to_string();
 let pipes=[Pipe::new(10, 20, 20, 0), Pipe::new(50, 5, 1000, 20), Pipe::new(5, 40, 1000, 50), Pipe::new(100, 1, 30, 10), Pipe::new(2, 100, 10, 5)];
 let (n,seed)=(a("N",0),a("SEED",0));
 let sizes=[3_000 + seed * 7_001, 200_000, 40_000];
 let s=run(&Exchange{server:&Scheme::parse(&scheme).unwrap(),client:&Scheme::parse(&client).unwrap(),pipe:pipes[n as usize],sizes:&sizes,think:Duration::from_millis(30*seed),seed:seed*100+n,port:40000,begin:Instant::ZERO+Duration::from_secs(1000)});
 let m=SenderModel::of_scheme(&scheme).unwrap();
 let (f,_)=collect(EngineConfig{models:SenderModels::all(m),acks_only:true,..Default::default()},&s);
 let isn=s.segments.iter().find(|x|x.source.port==80).unwrap().seq.0;
 let mut ev=vec![];
 for x in &s.segments { if x.source.port==80 {ev.push((x.at,1,format!("      > {}+{} {:?}",x.seq.0.wrapping_sub(isn),x.payload,x.flags)))} else {ev.push((x.at,0,format!("< ack {} len {} win {} {:?} sack {:?}",x.ack.0.wrapping_sub(isn),x.payload,x.window,x.flags,x.options.sack().as_slice().iter().map(|b|(b.0.0.wrapping_sub(isn),b.1.0.wrapping_sub(isn))).collect::<Vec<_>>())))} }
 for x in &s.again { ev.push((x.at,2,format!("      TRUE {:?} {}",x.kind,x.seq.wrapping_sub(isn)))); }
 for x in &s.windows { ev.push((x.at,3,format!("   true acked {} cwnd {}",x.acked,x.cwnd))); }
 for (_,x) in &f.again { ev.push((x.at,4,format!("      FOUND {:?} {} pred {}",x.kind,x.seq.wrapping_sub(isn), x.predicted))); }
 for (d,x) in &f.windows { if d.is_server {ev.push((x.at,5,format!("   found una {} nxt {} cwnd {} ssthresh {} fl {} {:?}",x.una,x.nxt,x.cwnd,x.ssthresh,x.in_flight,x.phase)));} }
 ev.sort_by_key(|e|(e.0,e.1));
 for e in ev { println!("{:.6} {}",e.0.as_secs_f64(),e.2); }
}
