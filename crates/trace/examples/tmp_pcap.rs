//! Throwaway.
use capture::*; use trace::*; use units::*; use std::net::*;
use segment::{Flags, Options, SackBlocks, Timestamps};
#[derive(Default)] struct S { again: Vec<(TracedSender, Retransmission)>, n: u64, t: [SenderTally;2], quiet: bool, sums: Vec<ConnectionSummary> }
impl TraceSink for S {
 fn on_connection(&mut self, c:&ConnectionSummary){ self.n+=1; for (k,s) in [c.client_sent,c.server_sent].iter().enumerate(){ let t=&mut self.t[k]; t.packets+=s.packets;t.data_packets+=s.data_packets;t.bytes+=s.bytes;t.unseen_bytes+=s.unseen_bytes;t.control_again+=s.control_again;t.probes+=s.probes;t.spurious+=s.spurious; for i in 0..5{t.retransmissions[i]+=s.retransmissions[i];t.unexpected[i]+=s.unexpected[i];} for i in 0..4{t.spared_by[i]+=s.spared_by[i];} } if !self.quiet {self.sums.push(*c);} }
 fn wants_windows(&self)->bool{std::env::var_os("WIN").is_some()}
 fn on_window(&mut self,s:&TracedSender,p:&WindowPoint){ if s.is_server {println!("W {} {:.6} {} {} {} {:?} {}", s.client.port, p.at.as_secs_f64(), p.cwnd, p.ssthresh, p.srtt.as_micros(), p.phase, p.una);} }
 fn on_round_trip(&mut self,s:&TracedSender,at:Instant,r:Duration){ if s.is_server && std::env::var_os("WIN").is_some(){println!("R {} {:.6} {}", s.client.port, at.as_secs_f64(), r.as_micros());} }
 fn on_retransmission(&mut self,s:&TracedSender,r:&Retransmission){ if !self.quiet {self.again.push((*s,*r));} }
}
fn main(){
 let f=std::env::args().nth(1).unwrap(); let profile=std::env::args().nth(2).unwrap_or("linux".into());
 let reps:usize=std::env::args().nth(3).map_or(0,|x|x.parse().unwrap());
 let b=std::fs::read(&f).unwrap(); let v=parse(&b);
 eprintln!("{} segments", v.len());
 let models = if profile=="auto" { let mut s=ProfileSurvey::new(&EngineConfig::default()); for x in v.iter().take(100000){s.on_segment(x);} let (h,m)=s.finish(); for x in &h { eprintln!("{} {} {:?}", x.host, x.profile, x.misfits.map(|m|(m.seen,m.charge,m.corrections))); } m } else { SenderModels::all(SenderProfile::named(&profile).map_or_else(||SenderModel::of_scheme(&profile).unwrap(), SenderModel::of)) };
 for k in 0..=reps {
 let t0=std::fs::metadata("/proc/self").map(|_|()).ok(); let _=t0;
 #[allow(clippy::disallowed_methods)] let t=std::time::Instant::now();
 let mut e=TraceEngine::new(EngineConfig{acks_only:std::env::var_os("ACKS").is_some(),models:models.clone(),..Default::default()},S{quiet:reps>0,..Default::default()});
 for s in &v { e.on_segment(s); }
 let (s,tally)=e.finish_all();
 let dt=t.elapsed();
 if k==reps { println!("{tally:?} conns {}\nclient {:?}\nserver {:?}",s.n,s.t[0],s.t[1]); println!("{:.1} ns/seg", dt.as_nanos() as f64/v.len() as f64);
  if std::env::var_os("EACH").is_some(){ for (a,r) in &s.again { println!("{} {} {} start {} len {} {:?} {:?} exp {} spared {:?} srv {}", a.client, a.server, r.at.as_secs_f64(), r.start, r.len, r.kind, r.phase, r.expected, r.spared_by, a.is_server);} }
 } }
}
fn u16(b:&[u8],i:usize)->u16{u16::from_be_bytes([b[i],b[i+1]])} fn u32b(b:&[u8],i:usize)->u32{u32::from_be_bytes([b[i],b[i+1],b[i+2],b[i+3]])}
fn parse(b:&[u8])->Vec<Observed>{
 let mut v=vec![]; let swap = b[0]==0xa1; let rd=|i:usize|{let a=[b[i],b[i+1],b[i+2],b[i+3]]; if swap {u32::from_be_bytes(a)} else {u32::from_le_bytes(a)}};
 let nano = rd(0)==0xa1b23c4d; let lt=rd(20); let mut p=24; let mut n=0;
 while p+16<=b.len(){ let (s,us,cl)=(rd(p) as u64,rd(p+4) as u64,rd(p+8) as usize); p+=16; if p+cl>b.len(){break} let d=&b[p..p+cl]; p+=cl; n+=1;
  let off = match lt {1=>14,101=>0,113=>16,0=>4,_=>14}; if d.len()<off+40{continue} let ip=&d[off..]; if lt==1 && u16(d,12)!=0x800 {continue} if ip[0]>>4!=4||ip[9]!=6{continue}
  let ihl=(ip[0]&15) as usize*4; let tot=u16(ip,2) as usize; let t=&ip[ihl..]; if t.len()<20 {continue} let dofs=(t[12]>>4) as usize*4;
  let mut o=Options::default(); let mut i=20; while i<dofs.min(t.len()){ match t[i]{0=>break,1=>{i+=1;continue},k=>{ if i+1>=t.len(){break} let l=t[i+1] as usize; if l<2||i+l>t.len(){break} match (k,l){(2,4)=>o.mss=Some(u16(t,i+2)),(3,3)=>o.window_scale=Some(t[i+2]),(4,2)=>o.sack_permitted=true,(8,10)=>o.timestamps=Some(Timestamps{value:u32b(t,i+2),echo:u32b(t,i+6)}),(5,_)=>{let mut sb=SackBlocks::default(); let mut j=i+2; while j+8<=i+l{sb.push(SeqNum(u32b(t,j)),SeqNum(u32b(t,j+4)));j+=8} o.sack=sb},_=>{}} i+=l;}}}
  let e=|o:usize,q:usize|TcpEnd{ip:IpAddr::V4(Ipv4Addr::new(ip[o],ip[o+1],ip[o+2],ip[o+3])),port:u16(t,q)};
  let ns = if nano {us} else {us*1000};
  v.push(Observed{number:n,at:Instant::from_nanos(s*1_000_000_000+ns),source:e(12,0),destination:e(16,2),seq:SeqNum(u32b(t,4)),ack:SeqNum(u32b(t,8)),payload:(tot.saturating_sub(ihl+dofs)) as u32,window:u16(t,14),flags:Flags(t[13]),ip_id:u32::from(u16(ip,4)),options:(&o).into(),..Default::default()});
 } v }
